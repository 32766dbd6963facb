/**
 * One distribution of y, with steps in x that are mapped or steps in y: energy distance to the
 * distribution by solver, number of steps and w. The score is exact, so only discretisation is
 * measured.
 *
 * For w = 1 the distribution of y is known. For w ≠ 1 it is that of the process whose drift in y is
 * wf̂; the reference is that process stepped in x with many steps.
 */
import { sampleFrom } from "diffeo/distribution";
import { compile } from "diffeo/engine";
import { DiffeoError, type NdArray, type Tensor } from "diffeo/graph";
import { fold, key } from "diffeo/random";
import { type DrawOptions, openSampler, type Solver, solvers } from "diffeo/sampler";
import { type Process, reverse, reversePush, vp } from "diffeo/sde";
import { energyDistance } from "diffeo/two-sample";
import { type StudyMap, scaledMap } from "../problem/maps.ts";
import { exactScore, threeGaussians } from "../problem/mixture.ts";
import { rounded } from "../study/records.ts";
import type { TaskContext } from "../study/study.ts";

/** Where and how steps are taken. */
export const ways = {
  "Euler–Maruyama in x": { solver: solvers.domainPreserving(), flow: false },
  "Euler–Maruyama in y": { solver: solvers.eulerMaruyama({ onExit: "hold" }), flow: false },
  "Milstein in y": { solver: solvers.milstein({ onExit: "hold" }), flow: false },
  "Heun's flow in x": { solver: solvers.heun({ stepIn: "x" }), flow: true },
  "Heun's flow in y": { solver: solvers.heun({ stepIn: "y", onExit: "hold" }), flow: true },
} as const satisfies Readonly<Record<string, { solver: Solver; flow: boolean }>>;

export type Way = keyof typeof ways;

export const STEPS = [25, 100, 400] as const;
export const DRIFT_SCALES = [0.9, 1, 1.1] as const;
const REFERENCE_STEPS = 1600;
const COUNT = 1000;

export interface SampleWhereTask {
  readonly map: StudyMap;
  readonly scale: number;
  readonly seed: number;
}

/** What one way gives with so many steps. */
interface WayResult {
  readonly way: Way;
  readonly w: number;
  readonly steps: number;
  /** Energy distance to the reference, in y; none where a sample was no longer finite. */
  readonly distance: number | null;
  /** Share of steps that left the domain, and so were not taken. */
  readonly exits: number | null;
}

export interface SampleWhereResult {
  readonly ways: readonly WayResult[];
  /** Energy distance in y between drifts scaled by w in y and scaled by w in x, then mapped. */
  readonly scaledInX: readonly { readonly w: number; readonly distance: number }[];
  /** Energy distance between two exact sets of samples: what chance makes of it. */
  readonly chance: number;
  /** Share of exact samples within 10⁻³ of the boundary. */
  readonly nearBoundary: number;
}

/** The distance to the boundary of each point y: the least of what the domain keeps positive. */
function margins(map: StudyMap, y: NdArray): number[] {
  const out: number[] = [];
  for (let i = 0; i < y.data.length; i += 2) {
    const [a, b] = [Number(y.data[i]), Number(y.data[i + 1])];
    if (map === "ball") out.push(1 - Math.hypot(a, b));
    else if (map === "cube") out.push(Math.min(a, b, 1 - a, 1 - b));
    else out.push(Math.min(a, b, 1 - a - b));
  }
  return out;
}

const engine = { device: "wasm", type: "float64" } as const;

/** Samples of a process by one solver. */
async function draws(process: Process, solver: Solver, options: Omit<DrawOptions, "count">) {
  const sampler = await openSampler(process, { shape: [2], solver, ...engine });
  try {
    return await sampler({ ...options, count: COUNT, grid: "uniform", tEnd: 1e-3 });
  } finally {
    await sampler.dispose();
  }
}

export async function sampleWhere(
  { map, scale, seed }: SampleWhereTask,
  { report, signal }: TaskContext,
): Promise<SampleWhereResult> {
  const [sde, law, phi] = [vp(), threeGaussians(), scaledMap(map, scale)];
  const score = exactScore(law, sde);
  const process = reversePush(sde, phi, score);
  const root = fold(key(seed), "sample-where");
  const applyMap = compile((x: Tensor) => phi.forward(x), [[COUNT, 2]], engine);
  const exact = (name: string): Promise<NdArray> =>
    applyMap(sampleFrom(law, fold(root, name), COUNT, "float64"));
  const [first, second] = [await exact("exact"), await exact("again")];
  const distance = (a: NdArray, b: NdArray): number =>
    energyDistance(a, b, { key: fold(root, "directions"), permutations: 0 }).value;
  const inX = ways["Euler–Maruyama in x"].solver;
  const referenceOf = (of: Process, w: number) =>
    draws(of, inX, { key: fold(root, "reference"), steps: REFERENCE_STEPS, driftScale: w, signal });

  const results: WayResult[] = [];
  const scaledInX: { w: number; distance: number }[] = [];
  for (const [i, w] of DRIFT_SCALES.entries()) {
    let reference = first;
    if (w !== 1) {
      reference = (await referenceOf(process, w)).samples;
      const { samples } = await referenceOf(reverse(sde, score), w);
      scaledInX.push({ w, distance: distance(await applyMap(samples), reference) });
    }
    for (const [way, { solver, flow }] of Object.entries(ways)) {
      if (flow && w !== 1) continue;
      for (const steps of STEPS) {
        const own = fold(fold(root, "noise"), steps);
        const options = { key: own, steps, driftScale: w, signal };
        const made = await draws(process, solver, options).catch((error: unknown) => {
          if (error instanceof DiffeoError && error.kind === "numerical") return undefined;
          throw error;
        });
        const exits = made ? made.exits / (COUNT * steps) : null;
        const distant = made ? distance(made.samples, reference) : null;
        results.push({ way: way as Way, w, steps, distance: distant, exits });
      }
    }
    report((i + 1) / DRIFT_SCALES.length);
  }
  await applyMap.dispose();
  return rounded({
    ways: results,
    scaledInX,
    chance: distance(first, second),
    nearBoundary: margins(map, first).filter((d) => d < 1e-3).length / COUNT,
  });
}
