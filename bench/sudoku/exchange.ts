/**
 * Transfers a model of Sudokus to `train_torch.py` and back:
 *
 *   npx tsx --conditions=diffeo-source bench/sudoku/exchange.ts pack FOLDER --puzzles FILE
 *   npx tsx --conditions=diffeo-source bench/sudoku/exchange.ts import FOLDER --model FILE
 *
 * `pack` writes grids of `generate.ts`, the weights of a model, the times of samplers, and a test
 * case with which `train_torch.py --compare` checks that both programs have the same network.
 * `import` makes a model from `weights.f32` and `shape.json`, and measures its errors by time.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { errorsByTime, fittedTimes, type Model, modelOf } from "diffeo/categorical";
import { evaluate } from "diffeo/engine";
import { logSoftmax, mul, type NdArray, type Tensor } from "diffeo/graph";
import { asConstants, type Parameters, parameterCount } from "diffeo/model";
import { loadModel, saveModel } from "diffeo/node";
import { key, normal } from "diffeo/random";
import { uniformGrid } from "diffeo/sampler";
import { flatten } from "diffeo/train";
import { textOptions } from "../text-options.ts";
import { randomGrids } from "./generate.ts";
import { layoutOf } from "./layout.ts";

const {
  values,
  positionals: [how, folder],
} = parseArgs({
  allowPositionals: true,
  options: {
    ...textOptions({
      model: "models/sudoku.safetensors",
      grids: "500000",
    }),
    puzzles: { type: "string" },
  },
});
const layout = layoutOf([3, 3]);
/** The digits of a grid without the last row and column, which follow from them, two per byte. */
const EIGHT = 8;

function packed(grids: Uint8Array): Uint8Array {
  const { size, sites } = layout;
  const out = new Uint8Array(((grids.length / sites) * EIGHT * EIGHT) / 2);
  for (let i = 0; i < out.length; i++) {
    const [grid, place] = [Math.floor(i / 32), (i % 32) * 2];
    const at = grid * sites + Math.floor(place / EIGHT) * size + (place % EIGHT);
    out[i] = grids[at] | (grids[at + 1] << 4);
  }
  return out;
}

/** The log-likelihoods of two grids of noise, and the network's output for them. */
async function compared({
  denoiser,
  parameters,
}: Model): Promise<{ seen: unknown; logits: unknown }> {
  const constants = asConstants<Parameters<Tensor>>(parameters);
  const noise = normal(key("case"), [2, layout.size, layout.size, layout.size]);
  const seen = (x: Tensor): Tensor => logSoftmax(mul(x, 3));
  const [log, logits] = await evaluate(
    (x: Tensor) => [seen(x), denoiser.network.apply(constants, seen(x), x)],
    noise,
  );
  const nested = ({ data }: NdArray): number[][][] =>
    [0, 1].map((b) =>
      Array.from({ length: layout.sites }, (_, s) =>
        Array.from(
          data.subarray((b * layout.sites + s) * 9, (b * layout.sites + s + 1) * 9),
          Number,
        ),
      ),
    );
  return { seen: nested(log), logits: nested(logits) };
}

async function pack(to: string): Promise<void> {
  mkdirSync(to, { recursive: true });
  const model = await loadModel(values.model);
  const write = (name: string, data: Uint8Array | string): void =>
    writeFileSync(join(to, name), data);
  const weights = flatten(model.parameters) as Float32Array;
  write("weights.f32", new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength));
  write("grids.bin", packed(randomGrids(layout, Number(values.grids), key("pool"))));
  const { encoding, spec } = model;
  const n = encoding.channels;
  const codes = Array.from({ length: n + 1 }, (_, k) => [
    ...encoding.points.subarray(k * n, (k + 1) * n),
  ]);
  const both = <T>(f: (steps: number) => T) => ({ 50: f(49), 100: f(99) });
  const { horizon } = model.denoiser.sde;
  write(
    "about.json",
    JSON.stringify({
      codes,
      layers: (spec.network as unknown as { layers: number }).layers,
      times: both((steps) => fittedTimes(model, steps)),
      puzzleTimes: both((steps) => uniformGrid(horizon, horizon / 1000, steps)),
    }),
  );
  write("case.json", JSON.stringify(await compared(model)));
  if (values.puzzles) copyFileSync(values.puzzles, join(to, "puzzles.txt"));
}

async function take(from: string): Promise<void> {
  const { spec } = await loadModel("models/sudoku.safetensors");
  const { layers, width } = JSON.parse(readFileSync(join(from, "shape.json"), "utf8"));
  const bytes = readFileSync(join(from, "weights.f32"));
  const flat = new Float32Array(Uint8Array.from(bytes).buffer);
  const network = { ...spec.network, layers, width, inner: 2 * width };
  const symbols = Array.from({ length: layout.size }, (_, k) => String(k + 1));
  const encoding = { ...spec.encoding, symbols };
  const model = modelOf({ ...spec, encoding, network } as typeof spec, flat);
  const grids = randomGrids(layout, 128, key("errors"));
  const errors = await errorsByTime(model, grids, { key: key("errors"), times: 48 });
  await saveModel(values.model, { ...model, errors });
  console.log(`${values.model}: ${parameterCount(model.parameters)} parameters`);
}

await (how === "pack" ? pack : take)(folder);
