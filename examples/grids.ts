/**
 * A diffusion of classes on a custom grid, from data to a file and back to samples.
 *
 * The data are grids of 4×4 sites in three colours, in which each row or each column has one
 * colour. Single sites do not show this: with independent sites one grid in 3·10⁵ is striped.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  compileDenoiserStep,
  denoiserBatch,
  denoiserScore,
  freshModel,
  gridsOf,
  type ModelSpec,
  modelOf,
  standardise,
} from "diffeo/categorical";
import { asConstants } from "diffeo/model";
import { loadModel, saveModel } from "diffeo/node";
import { fold, integers, key } from "diffeo/random";
import { sample } from "diffeo/sampler";
import { reversePush } from "diffeo/sde";
import { initialState, rateAt } from "diffeo/train";

const [SIDE, COLOURS, COUNT, STEPS, SAMPLES] = [4, 3, 500, 300, 64];
const seed = key(7);

const drawn = integers(seed, [COUNT, SIDE], 0, COLOURS).data;
const data = Uint8Array.from({ length: COUNT * SIDE * SIDE }, (_, i) => {
  const [grid, row, column] = [Math.floor(i / SIDE ** 2), Math.floor(i / SIDE) % SIDE, i % SIDE];
  return drawn[grid * SIDE + (grid % 2 === 0 ? row : column)];
});

const shares = Array.from(
  { length: COLOURS },
  (_, k) => data.filter((v) => v === k).length / data.length,
);
const spec: ModelSpec = {
  encoding: standardise(shares, { grid: [SIDE, SIDE] }),
  // Input: two numbers per site, for three classes. Output: the probabilities of all three.
  parameterisation: "posterior",
  network: {
    kind: "unet",
    channels: COLOURS - 1,
    outputs: COLOURS,
    width: 16,
    multipliers: [1, 1],
    blocks: 1,
    groups: 4,
    attention: [0],
    position: [SIDE, SIDE],
  },
};

const fresh = freshModel(spec, fold(seed, "parameters"));
const grids = gridsOf(fresh.encoding, data);
const step = compileDenoiserStep(fresh, { emaDecay: 0.98, threads: 1 });
let state = initialState(fresh.parameters);
for (let s = 1; s <= STEPS; s++) {
  const rate = rateAt(s, { peak: 0.006, warmup: 30, steps: STEPS });
  ({ state } = await step(
    state,
    denoiserBatch(fresh, grids, { size: 32, key: key(7), step: s }),
    s,
    rate,
  ));
}
await step.dispose();

const folder = await mkdtemp(join(tmpdir(), "grids-"));
const file = join(folder, "stripes.safetensors");
await saveModel(file, modelOf(spec, state.ema.data as Float32Array));
const { encoding, denoiser, parameters } = await loadModel(file);
await rm(folder, { recursive: true });

const score = denoiserScore(denoiser, asConstants(parameters));
const { samples } = await sample(reversePush(denoiser.sde, encoding.phi, score), {
  count: SAMPLES,
  shape: [...encoding.grid, encoding.channels],
  key: fold(seed, "samples"),
  steps: 100,
  denoise: true,
  threads: 1,
});
const classes = encoding.decodeSimplex(samples.data);

const rowsOf = (i: number): number[][] =>
  Array.from({ length: SIDE }, (_, r) => [
    ...classes.subarray(i * SIDE ** 2 + r * SIDE, i * SIDE ** 2 + (r + 1) * SIDE),
  ]);
const striped = (rows: number[][]): boolean =>
  rows.every((row) => row.every((v) => v === row[0])) ||
  rows.every((row) => row.join() === rows[0].join());
const all = Array.from({ length: SAMPLES }, (_, i) => rowsOf(i));
for (let r = 0; r < SIDE; r++)
  console.log(
    all
      .slice(0, 10)
      .map((rows) => rows[r].map((k) => "·▒█"[k]).join(""))
      .join("   "),
  );
const found = all.filter(striped).map(String);
console.log(`striped: ${found.length} of ${SAMPLES}, in ${new Set(found).size} patterns`);
