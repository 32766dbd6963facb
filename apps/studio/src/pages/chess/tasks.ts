/**
 * What the chess page has computed: a model is loaded once; boards are drawn from noise, or
 * completed around known squares, and every step of the reverse process on the simplex is reported as a
 * frame, each square's mixture of the 13 classes as bytes.
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

export interface DrawAsk {
  readonly device: string;
  readonly solver: SolverName;
  readonly seed: number;
  readonly boards: number;
  readonly steps: number;
  readonly w: number;
  /** How many pieces boards are led to; 0: as many as come. */
  readonly pieces: number;
  /** 64 classes; all of them `UNKNOWN` for boards from noise. */
  readonly known: Uint8Array;
  readonly completion: Completion;
}

export type Update =
  /** Graphs are being compiled. */
  | { readonly kind: "preparing" }
  /** Boards × 64 × 13 bytes at a time. */
  | { readonly kind: "frame"; readonly t: number; readonly mixture: Uint8Array };

let model: Model | undefined;
/**
 * What was opened last, by what it is for. Each holds the network's weights once a graph, so there
 * are only so many.
 */
const samplers = new Map<string, Promise<BoardSampler>>();
const MOST_SAMPLERS = 2;

/** What the page must know of a model. */
export interface Loaded {
  readonly parameters: number;
  /**
   * The probability of its class at a square that is certain, which the encoding keeps off the
   * corner of the simplex.
   */
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

/** Takes a model from where it is served, or from the reader's file. */
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

async function samplerFor({ device, solver, boards }: DrawAsk): Promise<BoardSampler> {
  if (!model) fail("usage", "no model is loaded", "load one first");
  const name = `${device} ${solver} ${boards}`;
  const opened = samplers.get(name) ?? openBoards(model, { device, solver });
  // The last used is the last in the map.
  samplers.delete(name);
  samplers.set(name, opened);
  for (const old of [...samplers.keys()].slice(0, -MOST_SAMPLERS)) {
    const sampler = samplers.get(old);
    samplers.delete(old);
    await (await sampler)?.dispose();
  }
  return opened;
}

/** How many steps the run may take before it waits; more come by `pace`. */
let allowed = Number.POSITIVE_INFINITY;
let wake: () => void = () => undefined;

/** Lets the run go on for so many steps more; 0 pauses it, no number lets it run. */
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

/** Boards from noise, or completed where squares are known. */
function run(
  sampler: BoardSampler,
  ask: DrawAsk,
  more: Pick<Parameters<BoardSampler>[0], "signal" | "onStep" | "grid">,
): Promise<Boards> {
  const { seed, boards, steps, w, pieces, known, completion } = ask;
  const guide = pieces === 0 ? [] : [parseCondition(`pieces=${pieces}`)];
  const call = { key: key(seed), steps, driftScale: w, guide, frames: 2, ...more };
  if (known.every((k) => k === UNKNOWN)) return sampler({ ...call, count: boards });
  const partial = new Uint8Array(boards * SQUARES);
  for (let i = 0; i < boards; i++) partial.set(known, i * SQUARES);
  return completeBoards(sampler, partial, { ...call, completion });
}

export const draw = task<DrawAsk, Update, { readonly exits: number; readonly evaluations: number }>(
  async (ask, { report, signal }) => {
    report({ kind: "preparing" });
    const sampler = await samplerFor(ask);
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
    const { trace, exits, scoreEvaluations } = await run(sampler, ask, { signal, onStep });
    frame(0, trace?.frames.at(-1) as Uint8Array);
    return { exits, evaluations: scoreEvaluations };
  },
);

/** Compiles the graphs that a call like this one needs, by a step that goes nowhere. */
export const prepare = task<DrawAsk, never, void>(async (ask, { signal }) => {
  const sampler = await samplerFor(ask);
  const { horizon } = sampler.model.denoiser.sde;
  await run(sampler, { ...ask, steps: 1 }, { signal, grid: [horizon, 0.999 * horizon] });
});
