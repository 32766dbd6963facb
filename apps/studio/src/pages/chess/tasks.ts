/**
 * The tasks of the chess page: load a model; sample boards from noise or complete known squares.
 * Every step of the reverse process on the simplex is reported as a frame: the distribution of each
 * square over the 13 classes, as bytes.
 */
import { type Model, parseModel } from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { parameterCount } from "diffeo/model";
import { key } from "diffeo/random";
import type { Progress, SolverName } from "diffeo/sampler";
import {
  type BoardSampler,
  type Boards,
  CLASSES,
  type Completion,
  completeBoards,
  EMPTY,
  openBoards,
  parseCondition,
  quantise,
  SQUARES,
  UNKNOWN,
} from "diffeo-chess";
import { servedModel } from "../../shell/model-bytes.ts";
import { task, turn } from "../../shell/rpc.ts";

export interface DrawRequest {
  readonly device: string;
  readonly solver: SolverName;
  readonly seed: number;
  readonly boards: number;
  readonly steps: number;
  readonly w: number;
  /** The number of pieces to guide boards to; 0 for no guidance. */
  readonly pieces: number;
  /** 64 classes, `UNKNOWN` for squares that are not known. */
  readonly known: Uint8Array;
  readonly completion: Completion;
}

export type Update =
  /** Graphs are being compiled. */
  | { readonly kind: "preparing" }
  /** Boards × 64 × 13 bytes at time t. */
  | { readonly kind: "frame"; readonly t: number; readonly mixture: Uint8Array };

let model: Model | undefined;
/**
 * The samplers opened last, by device, solver and number of boards. Each graph of a sampler holds a
 * copy of the weights, so the number of samplers is bounded.
 */
const samplers = new Map<string, Promise<BoardSampler>>();
const MOST_SAMPLERS = 2;

/** What the page shows of a model. */
export interface Loaded {
  readonly parameters: number;
  /** The probability of the class of a certain square; the encoding keeps it below 1. */
  readonly sure: number;
  /** The entropy of such a square, in bits. */
  readonly floor: number;
}

function described({ parameters, encoding }: Model): Loaded {
  const certain = encoding
    .mixture(encoding.encode(new Uint8Array(SQUARES).fill(EMPTY)))
    .subarray(0, CLASSES);
  return {
    parameters: parameterCount(parameters),
    sure: Math.max(...certain),
    floor: certain.reduce((bits, p) => bits - p * Math.log2(p), 0),
  };
}

/** Loads a model from its address, or from the bytes of a file. */
export const load = task<{ readonly url: string } | { readonly bytes: Uint8Array }, number, Loaded>(
  async (from, { report }) => {
    const loaded =
      "url" in from ? await servedModel(from.url, parseModel, report) : parseModel(from.bytes);
    for (const sampler of samplers.values()) await (await sampler).dispose();
    samplers.clear();
    model = loaded;
    return described(loaded);
  },
);

async function samplerFor({ device, solver, boards }: DrawRequest): Promise<BoardSampler> {
  if (!model) fail("usage", "no model is loaded", "load one first");
  const name = `${device} ${solver} ${boards}`;
  const opened = samplers.get(name) ?? openBoards(model, { device, solver });
  // The sampler used last moves to the end of the map.
  samplers.delete(name);
  samplers.set(name, opened);
  for (const old of [...samplers.keys()].slice(0, -MOST_SAMPLERS)) {
    const sampler = samplers.get(old);
    samplers.delete(old);
    await (await sampler)?.dispose();
  }
  return opened;
}

/** How many steps the run may take before it waits; `pace` allows more. */
let allowed = Number.POSITIVE_INFINITY;
let wake: () => void = () => undefined;

/** Allows more steps; 0 pauses the run, undefined lets it run. */
export const pace = task<{ readonly steps: number | undefined }, never, void>(async ({ steps }) => {
  if (steps === undefined) allowed = Number.POSITIVE_INFINITY;
  else allowed = steps === 0 || allowed === Number.POSITIVE_INFINITY ? steps : allowed + steps;
  wake();
});

/** Waits until the next step is allowed. */
async function allowance(signal: AbortSignal): Promise<void> {
  while (allowed <= 0 && !signal.aborted)
    await new Promise<void>((resolve) => {
      wake = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  allowed--;
}

/** Samples boards from noise, or completes known squares. */
function run(
  sampler: BoardSampler,
  request: DrawRequest,
  more: Pick<Parameters<BoardSampler>[0], "signal" | "onStep" | "grid">,
): Promise<Boards> {
  const { seed, boards, steps, w, pieces, known, completion } = request;
  const guide = pieces === 0 ? [] : [parseCondition(`pieces=${pieces}`)];
  const call = { key: key(seed), steps, driftScale: w, guide, frames: 2, ...more };
  if (known.every((k) => k === UNKNOWN)) return sampler({ ...call, count: boards });
  const partial = new Uint8Array(boards * SQUARES);
  for (let i = 0; i < boards; i++) partial.set(known, i * SQUARES);
  return completeBoards(sampler, partial, { ...call, completion });
}

export const draw = task<
  DrawRequest,
  Update,
  { readonly exits: number; readonly evaluations: number }
>(async (request, { report, signal }) => {
  report({ kind: "preparing" });
  const sampler = await samplerFor(request);
  const { mixtureOfSimplex } = sampler.model.encoding;
  const frame = (t: number, mixture: Uint8Array): void =>
    report({ kind: "frame", t, mixture }, [mixture.buffer as ArrayBuffer]);
  allowed = Number.POSITIVE_INFINITY;
  const onStep = async ({ t, points }: Progress): Promise<void> => {
    const { data } = await points();
    frame(t, quantise(mixtureOfSimplex(data as Float32Array)));
    await turn();
    await allowance(signal);
  };
  const { trace, exits, scoreEvaluations } = await run(sampler, request, { signal, onStep });
  frame(0, trace?.frames.at(-1) as Uint8Array);
  return { exits, evaluations: scoreEvaluations };
});

/** Compiles the graphs that such a call needs, by one tiny step. */
export const prepare = task<DrawRequest, never, void>(async (request, { signal }) => {
  const sampler = await samplerFor(request);
  const { horizon } = sampler.model.denoiser.sde;
  await run(sampler, { ...request, steps: 1 }, { signal, grid: [horizon, 0.999 * horizon] });
});
