/** The errors of a denoiser by time: known values, and how they are stored. */
import { expect, it } from "vitest";
import {
  errorsByTime,
  fittedTimes,
  type ModelSpec,
  modelOf,
  parseModel,
  sampleGrids,
  serializeModel,
  standardise,
  usualTimes,
  withErrors,
} from "../../src/categorical/index.ts";
import { networkOf, parameterCount } from "../../src/model/index.ts";
import { integers, key, normal } from "../../src/random/index.ts";
import { flatten, parseSafetensors, serializeSafetensors } from "../../src/train/index.ts";

const spec: ModelSpec = {
  encoding: standardise([0.2, 0.3, 0.5], { grid: [6] }),
  parameterisation: "posterior",
  network: {
    kind: "transformer",
    channels: 2,
    outputs: 3,
    width: 8,
    layers: 1,
    heads: 2,
    grid: [6],
  },
};
const size = parameterCount(networkOf(spec.network).shapes());
const classes = Uint8Array.from(integers(key("classes"), [7 * 6], 0, 3).data as ArrayLike<number>);

it("is that of the mean of all classes at every time for an uninformative network", async () => {
  const model = modelOf(spec, new Float32Array(size));
  const { points, channels } = model.encoding;
  const codes = [0, 1, 2].map((k) => Array.from(points.subarray(k * channels, (k + 1) * channels)));
  const middle = [0, 1].map((j) => (codes[0][j] + codes[1][j] + codes[2][j]) / 3);
  const far = codes.map((c) => c.reduce((sum, v, j) => sum + (v - middle[j]) ** 2, 0));
  const expected = classes.reduce((sum, k) => sum + far[k], 0) / 7;
  const { times, values } = await errorsByTime(model, classes, {
    key: key(1),
    times: 5,
    batch: 3,
    threads: 1,
  });
  expect([times[0], times[4]]).toEqual([1e-3, 1]);
  for (const value of values) expect(value / expected).toBeCloseTo(1, 5);
});

it("does not depend on the batch size", async () => {
  const model = modelOf(
    spec,
    (normal(key("weights"), [size]).data as Float32Array).map((w) => 0.3 * w),
  );
  const of = (batch: number) =>
    errorsByTime(model, classes, { key: key(1), times: 4, batch, threads: 1 });
  const [one, other] = [await of(7), await of(2)];
  one.values.forEach((value, i) => {
    expect(value / other.values[i]).toBeCloseTo(1, 5);
  });
});

it("is stored in the model's file, and can be added without changing the parameters", () => {
  const model = modelOf(spec, normal(key("weights"), [size]).data as Float32Array);
  const errors = { times: [0.001, 0.3, 1], values: [0, 2, 9] };
  const plain = Buffer.concat(serializeModel(model));
  expect(parseModel(plain)).not.toHaveProperty("errors");
  expect(() => fittedTimes(parseModel(plain), 4)).toThrow("errors were not measured");
  const measured = Buffer.concat(serializeModel({ ...model, errors }));
  const put = Buffer.concat(withErrors(plain, errors));
  for (const bytes of [measured, put, Buffer.concat(withErrors(measured, errors))]) {
    const read = parseModel(bytes);
    expect(read.errors).toEqual(errors);
    expect(flatten(read.parameters)).toEqual(flatten(parseModel(plain).parameters));
    expect(fittedTimes(read, 4)).toHaveLength(5);
  }
  const sure = { times: [0.001, 0.01, 0.1, 0.3, 1], values: [0, 1e-7, 5e-6, 1e-4, 9] };
  expect(fittedTimes({ ...model, errors: sure }, 3).at(-1)).toBe(0.1);
  expect(fittedTimes({ ...model, errors: { ...sure, values: [1, 2, 3, 4, 5] } }, 3).at(-1)).toBe(
    0.001,
  );
  const { arrays, metadata } = parseSafetensors(plain, "plain");
  for (const text of [
    "{",
    "[]",
    '{"times":[1],"values":[1]}',
    '{"times":[0,1],"values":[1,2]}',
    '{"times":[1,2]}',
    '{"times":[1,2],"values":[1,2,3]}',
  ])
    expect(() =>
      parseModel(
        Buffer.concat(serializeSafetensors({ arrays, metadata: { ...metadata, errors: text } })),
      ),
    ).toThrow("its errors by time are not valid");
});

it("gives fitted times to solvers that use them, if errors were measured and the drift is not scaled", async () => {
  const plain = modelOf(spec, normal(key("weights"), [size]).data as Float32Array);
  const model = { ...plain, errors: { times: [0.001, 0.3, 1], values: [0, 2, 9] } };
  expect(usualTimes(model, "dpmSolver2MSde", 4, {})).toEqual(fittedTimes(model, 4));
  for (const other of [
    usualTimes(plain, "dpmSolver2MSde", 4, {}),
    usualTimes(model, undefined, 4, {}),
    usualTimes(model, "heun", 4, {}),
    usualTimes(model, "dpmSolver2MSde", 4, { driftScale: 1.02 }),
  ])
    expect(other).toBeUndefined();
  const timesOf = async (of: typeof plain): Promise<number[]> => {
    const times: number[] = [];
    const onStep = ({ t }: { readonly t: number }): void => void times.push(t);
    await sampleGrids(of, {
      count: 1,
      key: key(1),
      steps: 4,
      solver: "dpmSolver2MSde",
      threads: 1,
      onStep,
    });
    return times;
  };
  expect(await timesOf(model)).toEqual(fittedTimes(model, 4).slice(1));
  expect(await timesOf(plain)).not.toEqual(await timesOf(model));
});
