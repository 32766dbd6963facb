/** The names of all options, so that unknown options are errors and not ignored. */
import { fail } from "../graph/index.ts";
import type { DrawOptions, OpenOptions, SampleOptions } from "./options.ts";

const openNames: Readonly<Record<keyof OpenOptions, true>> = {
  shape: true,
  solver: true,
  denoise: true,
  energy: true,
  likelihood: true,
  given: true,
  aim: true,
  device: true,
  type: true,
  threads: true,
  worker: true,
  checkFinite: true,
};

const drawNames: Readonly<Record<keyof DrawOptions, true>> = {
  count: true,
  key: true,
  steps: true,
  grid: true,
  tEnd: true,
  start: true,
  first: true,
  batch: true,
  driftScale: true,
  timeDilation: true,
  guidance: true,
  aims: true,
  known: true,
  noise: true,
  onStep: true,
  signal: true,
};

/** Options of solvers, each with an example of a solver that has it. */
const solverNames: Readonly<Record<string, string>> = {
  tolerance: "rungeKutta({ tolerance })",
  churn: "heun({ churn })",
  stepIn: "eulerMaruyama({ stepIn })",
  onExit: "eulerMaruyama({ onExit })",
  ratio: "predictorCorrector({ ratio })",
};

const has = (names: object, name: string): boolean => Object.hasOwn(names, name);

function refuse(
  where: string,
  options: object,
  names: object,
  elsewhere: (name: string) => string | undefined,
): void {
  for (const name of Object.keys(options))
    if (!has(names, name))
      fail(
        "usage",
        `${where} has no option "${name}"`,
        has(solverNames, name)
          ? `it is an option of a solver: set solver: ${solverNames[name]}`
          : (elsewhere(name) ?? `use those of ${Object.keys(names).join(", ")}`),
      );
}

/** Throws for an option that `openSampler` does not have. */
export const refuseUnknownOpening = (options: object): void =>
  refuse("openSampler", options, openNames, (name) =>
    has(drawNames, name) ? `pass it to each call: draw({ ${name} })` : undefined,
  );

/** Throws for an option that a call of a sampler does not have. */
export const refuseUnknownDraw = (options: object): void =>
  refuse("a call of a sampler", options, drawNames, (name) =>
    has(openNames, name) ? `pass it to openSampler(process, { ${name} })` : undefined,
  );

/** Throws for an option that `sample` does not have. */
export const refuseUnknownSample = (options: object): void =>
  refuse(
    "sample",
    options,
    { ...openNames, ...drawNames } satisfies Record<keyof SampleOptions, true>,
    () => undefined,
  );

/** The options of `sample` as those of opening, without the shape, and those of a call. */
export function splitOptions(options: SampleOptions): [Omit<OpenOptions, "shape">, DrawOptions] {
  const { shape: _, ...rest } = options;
  const entries = Object.entries(rest);
  const opening = entries.filter(([name]) => has(openNames, name));
  const call = entries.filter(([name]) => !has(openNames, name));
  return [Object.fromEntries(opening), Object.fromEntries(call) as unknown as DrawOptions];
}
