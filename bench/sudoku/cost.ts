/**
 * Processor seconds per grid of training, by the shape of the network:
 *
 *   npx tsx --conditions=diffeo-source bench/sudoku/cost.ts --shapes 48x12,48x24,32x16 --batch 32
 *
 * A shape is the width of the vectors and the number of layers. The first two steps are not
 * counted: they contain compilation. Processor seconds include all threads, so that on an idle
 * machine two cores take half as long. `--profile` prints where the time of a step goes, by the
 * operators of ONNX Runtime.
 */
import { parseArgs } from "node:util";
import { compileDenoiserStep, denoiserBatch, freshModel } from "diffeo/categorical";
import { parameterCount } from "diffeo/model";
import { key } from "diffeo/random";
import { initialState } from "diffeo/train";
import { describeProfile, profiled } from "../profile.ts";
import { textOptions } from "../text-options.ts";
import { movedGrids, randomGrids } from "./generate.ts";
import { layoutOf } from "./layout.ts";
import { sudokuSpec } from "./spec.ts";

const { values } = parseArgs({
  options: {
    ...textOptions({
      shapes: "48x12,48x24",
      batch: "32",
      steps: "4",
      threads: "1",
      muon: "0",
    }),
    profile: { type: "boolean", default: false },
  },
});
const layout = layoutOf([3, 3]);
const [batch, steps] = [Number(values.batch), Number(values.steps)];
const grids = movedGrids(layout, randomGrids(layout, 200, key("pool")), key("moves"));
const processor = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Processor seconds per grid of training a network of a shape. */
async function costOf(width: number, layers: number): Promise<number> {
  const model = freshModel(sudokuSpec({ width, layers }), key(1));
  const options = { beta2: 0.99, muon: Number(values.muon), threads: Number(values.threads) };
  const step = compileDenoiserStep(model, options);
  let state = initialState(model.parameters);
  let begun = 0;
  for (let s = 1; s <= steps + 2; s++) {
    if (s === 3) begun = processor();
    const data = denoiserBatch(model, grids, { size: batch, key: key(1), step: s });
    ({ state } = await step(state, data, s, 1e-3));
  }
  const each = (processor() - begun) / (steps * batch);
  await step.dispose();
  const { parameters } = model;
  console.log(
    `width ${width}, ${layers} layers, ${parameterCount(parameters)} parameters, ` +
      `batches of ${batch}: ${(1000 * each).toFixed(1)} ms of processor per grid, ` +
      `${((3 * 2 * 3600) / each / 1e6).toFixed(2)} million grids in three hours of two cores`,
  );
  return each;
}

for (const shape of values.shapes.split(",")) {
  const [width, layers] = shape.split("x").map(Number);
  if (!values.profile) await costOf(width, layers);
  else
    for (const line of describeProfile(
      await profiled(async () => void (await costOf(width, layers))),
    ))
      console.log(line);
}
