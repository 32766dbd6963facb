/**
 * The tasks of the Sudoku page: load the model; sample grids around clues. Every step of the
 * reverse process on the simplex is reported as a frame.
 */
import {
  type ClassArray,
  type GridSampler,
  type Model,
  openGrids,
  parseModel,
} from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { parameterCount } from "diffeo/model";
import { key } from "diffeo/random";
import type { Progress } from "diffeo/sampler";
import { servedModel } from "../../shell/model-bytes.ts";
import { task, turn } from "../../shell/rpc.ts";
import { DIGITS, SITES } from "./grid.ts";

export interface DrawRequest {
  readonly device: string;
  readonly seed: number;
  readonly grids: number;
  readonly steps: number;
  readonly w: number;
  /** 81 digits, 0 for cells without a clue. */
  readonly clues: readonly number[];
}

export type Update =
  /** Graphs are being compiled. */
  | { readonly kind: "preparing" }
  /** Grids × 81 × 9 bytes. */
  | { readonly kind: "frame"; readonly t: number; readonly mixture: Uint8Array };

let model: Model | undefined;
let opened: { readonly device: string; readonly sampler: Promise<GridSampler> } | undefined;

/** Loads the model from its address and returns its number of parameters. */
export const load = task<{ readonly url: string }, number, { readonly parameters: number }>(
  async ({ url }, { report }) => {
    model = await servedModel(url, parseModel, report);
    return { parameters: parameterCount(model.parameters) };
  },
);

async function samplerFor(device: string): Promise<GridSampler> {
  if (!model) fail("usage", "no model is loaded", "load one first");
  if (opened && opened.device !== device) {
    const { sampler } = opened;
    opened = undefined;
    await (await sampler).dispose();
  }
  opened ??= { device, sampler: openGrids(model, { device, solver: "dpmSolver2MSde" }) };
  return opened.sampler;
}

/** Certain classes as the bytes of a frame. */
function certain(classes: ClassArray): Uint8Array {
  const out = new Uint8Array(classes.length * DIGITS);
  for (const [site, k] of classes.entries()) out[site * DIGITS + k] = 255;
  return out;
}

export const draw = task<DrawRequest, Update, void>(
  async ({ device, seed, grids, steps, w, clues }, { report, signal }) => {
    report({ kind: "preparing" });
    const sample = await samplerFor(device);
    const { encoding } = model as Model;
    const frame = (t: number, mixture: Uint8Array): void =>
      report({ kind: "frame", t, mixture }, [mixture.buffer as ArrayBuffer]);
    const onStep = async ({ t, points }: Progress): Promise<void> => {
      const { data } = await points();
      const mixture = encoding.mixtureOfSimplex(data as Float32Array);
      frame(
        t,
        Uint8Array.from(mixture, (p) => Math.round(255 * Math.min(1, Math.max(0, p)))),
      );
      await turn();
    };
    const blank = encoding.classes;
    const classes = Uint8Array.from(
      { length: grids * SITES },
      (_, i) => (clues[i % SITES] || blank + 1) - 1,
    );
    const drawn = await sample({
      ...{ count: grids, batch: grids, key: key(seed), steps, driftScale: w, onStep, signal },
      ...(clues.some((digit) => digit > 0) && { known: { classes } }),
    });
    frame(0, certain(drawn));
  },
);
