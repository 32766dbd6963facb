/** Studies by name. */
import type { Study } from "./study/study.ts";

type Load = () => Promise<{ readonly study: Study }>;
const load = (file: Promise<{ readonly study: unknown }>) => file as ReturnType<Load>;

/** Studies by name, each loaded at its first use. */
export const studies = {
  "where-to-train": () => load(import("./where-to-train/index.ts")),
  gssm: () => load(import("./gssm/index.ts")),
  "gradient-noise": () => load(import("./gradient-noise/index.ts")),
  "equal-pieces": () => load(import("./equal-pieces/index.ts")),
  "learned-map": () => load(import("./learned-map/index.ts")),
  "sample-where": () => load(import("./sample-where/index.ts")),
} as const satisfies Readonly<Record<string, Load>>;

/** The name of a study. */
export type StudyName = keyof typeof studies;

/** Whether a study has this name. */
export const isStudy = (name: string): name is StudyName => Object.hasOwn(studies, name);

/** The study of a name. */
export const studyNamed = async (name: StudyName): Promise<Study> => (await studies[name]()).study;
