/**
 * What more classes per site cost, in processor milliseconds:
 *
 *   npx tsx --conditions=diffeo-source bench/classes.ts --classes 64,256,512
 *
 * Sequences of 16 sites in batches of 32, with networks of the size `small`: a transformer under the
 * additive logistic map, and an exchangeable network with one group of all sites. `training` is a
 * step per sequence, `sampling` one evaluation per sequence with SDE-DPM-Solver++ (2M), and
 * `opening` the time until the first step or sample, which contains compilation.
 */
import { parseArgs } from "node:util";
import {
  compileDenoiserStep,
  denoiserBatch,
  freshModel,
  gridSpec,
  gridsOf,
  openGrids,
} from "diffeo/categorical";
import { parameterCount } from "diffeo/model";
import { integers, key } from "diffeo/random";
import { initialState } from "diffeo/train";
import { textOptions } from "./text-options.ts";

const { values } = parseArgs({
  options: textOptions({ classes: "64,256,512", networks: "transformer,exchangeable" }),
});
const [SITES, BATCH, STEPS, EVALUATIONS] = [16, 32, 5, 20];
const processor = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
};

console.log("network        classes  parameters  training  sampling  opening (training, sampling)");
for (const network of values.networks.split(","))
  for (const classes of values.classes.split(",").map(Number)) {
    const drawn = integers(key("data"), [2000 * SITES], 0, classes).data;
    const data = Uint16Array.from(drawn, Number);
    const all = Array.from({ length: SITES }, (_, s) => s);
    const spec = gridSpec(data, {
      ...{ classes, grid: [SITES], network: "small" },
      groups: network === "exchangeable" ? [[all]] : undefined,
    });
    const model = freshModel(spec, key(1));
    const grids = gridsOf(model.encoding, data);
    const step = compileDenoiserStep(model, { threads: 1 });
    let state = initialState(model.parameters);
    const marks = [processor()];
    for (let s = 1; s <= STEPS + 1; s++) {
      const batch = denoiserBatch(model, grids, { size: BATCH, key: key(1), step: s });
      ({ state } = await step(state, batch, s, 1e-3));
      marks.push(processor());
    }
    await step.dispose();
    const begun = processor();
    const draw = await openGrids(model, { solver: "dpmSolver2MSde", threads: 1 });
    const call = { count: BATCH, batch: BATCH, key: key(2) };
    await draw({ ...call, steps: 2 });
    const opened = processor();
    await draw({ ...call, steps: EVALUATIONS - 1 });
    const sampled = processor();
    await draw.dispose();
    const training = (marks[STEPS + 1] - marks[1]) / (STEPS * BATCH);
    const sampling = (sampled - opened) / (EVALUATIONS * BATCH);
    const seconds = (from: number, to: number): string => `${((to - from) / 1000).toFixed(1)} s`;
    console.log(
      `${network.padEnd(14)} ${String(classes).padEnd(8)} ` +
        `${String(parameterCount(model.parameters)).padEnd(11)} ` +
        `${training.toFixed(2).padEnd(9)} ${sampling.toFixed(2).padEnd(9)} ` +
        `${seconds(marks[0], marks[1])}, ${seconds(begun, opened)}`,
    );
  }
