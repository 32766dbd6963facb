/**
 * Which options there are, so that one that nobody reads is refused by its name instead of being
 * passed over.
 */
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

/** Options of solvers, each with a solver that has it. */
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
          ? `it belongs to a solver: give solver: ${solverNames[name]}`
          : (elsewhere(name) ?? `use those of ${Object.keys(names).join(", ")}`),
      );
}

export const refuseUnknownOpening = (options: object): void =>
  refuse("openSampler", options, openNames, (name) =>
    has(drawNames, name) ? `give it to each call: draw({ ${name} })` : undefined,
  );

export const refuseUnknownDraw = (options: object): void =>
  refuse("a call of a sampler", options, drawNames, (name) =>
    has(openNames, name) ? `give it to openSampler(process, { ${name} })` : undefined,
  );

export const refuseUnknownSample = (options: object): void =>
  refuse(
    "sample",
    options,
    { ...openNames, ...drawNames } satisfies Record<keyof SampleOptions, true>,
    () => undefined,
  );
