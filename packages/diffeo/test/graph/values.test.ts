/** Values of every operation by hand: small tables for the reference and ONNX Runtime. */
import { describe, expect, it } from "vitest";
import { evaluate } from "../../src/engine/index.ts";
import { wasmSession } from "../../src/engine/wasm/index.ts";
import type { DType, NdArray, Nested, Tensor } from "../../src/graph/index.ts";
import * as g from "../../src/graph/index.ts";
import { runOnCpu } from "./ort.ts";

const given = new Map<Tensor, NdArray>();

/** An input with its value: not a constant, which would be folded before any runtime saw it. */
function x(value: Nested, dtype: DType = "float64"): Tensor {
  const array = g.ndarray(value, dtype);
  const t = g.input(`x${given.size}`, array.shape, dtype);
  given.set(t, array);
  return t;
}

const m = x([
  [1, 2, 3],
  [4, 5, 6],
]);
const line = x([3, 1, 2, 1]);
/** 1 … 9 as a 3×3 image, and a kernel of ones. */
const image = x([[[[1], [2], [3]], [[4], [5], [6]], [[7], [8], [9]]]]); // biome-ignore format: an image
const ones = (h: number, w: number): Tensor => g.fill([h, w, 1, 1], 1, "float64");
const plane = (t: Tensor): Tensor => g.reshape(t, t.shape.slice(1, 3));
const none = x([[], []]);
const weighed = (t: Tensor): Tensor => g.sum(g.mul(t, [1, 10]));

// biome-ignore format: matrices read best in a line
const table: readonly (readonly [name: string, result: Tensor, value: Nested])[] = [
  ["add broadcasts a row over rows", g.add(m, [10, 20, 30]), [[11, 22, 33], [14, 25, 36]]],
  ["add of padded tensors that broadcast", g.add(g.pad(x([[1]]), [0, 0], [1, 1]), g.pad(x([[10]]), [1, 0], [0, 0])), [[1, 0], [10, 10]]],
  ["add of padded tensors of two ranks", g.add(g.pad(x([1]), [0], [1]), g.pad(x([[10, 20]]), [1, 0], [0, 0])), [[1, 0], [11, 20]]],
  ["mul broadcasts a column over columns", g.mul(m, [[2], [3]]), [[2, 4, 6], [12, 15, 18]]],
  ["div of integers truncates toward 0", g.div(x([7, -7], "int32"), 2), [3, -3]],
  ["sign of 0 is 0", g.sign(x([-2, 0, 3])), [-1, 0, 1]],
  ["floor goes down", g.floor(x([-1.5, 1.5])), [-2, 1]],
  ["clip holds within bounds", g.clip(x([-3, 0.5, 3]), -1, 1), [-1, 0.5, 1]],
  ["div by constants that differ in the sign of a 0", g.stack([[1, 0], [1, -0]].map((c) => g.div(x([1, 1]), c))), [[1, Infinity], [1, -Infinity]]],
  ["pow takes negative bases", g.pow(x([-2, -2]), [2, 3]), [4, -8]],
  ["pow has a slope at 0 for every exponent", g.grad((t: Tensor) => g.sum(g.pow(t, [0, 1, 2, 3])))(x(0)), 1],
  ["pow has a second slope at 0", g.grad(g.grad((t: Tensor) => g.sum(g.pow(t, x([0, 1, 2])))))(x(0)), 2],
  ["cast to int truncates", g.cast(x([-1.7, 1.7]), "int32"), [-1, 1]],
  ["cast to bool asks for non-zero", g.cast(x([-0.5, 0, 2]), "bool"), [1, 0, 1]],
  ["where chooses", g.where(g.greater(line, 1.5), line, [10, 20, 30, 40]), [3, 20, 2, 40]],
  ["where chooses between booleans", g.where(g.greater(line, 1.5), x([1, 0, 0, 1], "bool"), x([0, 1, 0, 0], "bool")), [1, 1, 0, 0]],
  ["greaterEqual holds at equality", g.greaterEqual(line, 2), [1, 0, 1, 0]],
  ["sum over all axes is a scalar", g.sum(m), 21],
  ["sum over an axis drops it", g.sum(m, 0), [5, 7, 9]],
  ["sum may keep its axis", g.sum(m, -1, { keepDims: true }), [[6], [15]]],
  ["mean over two axes", g.mean(m, [0, 1]), 3.5],
  ["max over an axis", g.max(m, 1), [3, 6]],
  ["max over no axes", g.max(m, []), [[1, 2, 3], [4, 5, 6]]],
  ["logSumExp of nothing but −∞", g.logSumExp(x([-Infinity, -Infinity])), -Infinity],
  ["logSumExp with an ∞", g.logSumExp(x([[Infinity, 1], [0, -Infinity]]), 1), [Infinity, 0]],
  ["logSumExp of equal numbers", g.logSumExp(x([0, 0, 0, 0])), Math.log(4)],
  ["softmax along the first axis", g.softmax(x([[0, 5], [0, 5]]), 0), [[0.5, 0.5], [0.5, 0.5]]],
  ["cumsum", g.cumsum(line), [3, 4, 6, 7]],
  ["cumsum, exclusive", g.cumsum(line, 0, { exclusive: true }), [0, 3, 4, 6]],
  ["cumsum, reverse", g.cumsum(line, 0, { reverse: true }), [7, 4, 3, 1]],
  ["matmul", g.matmul(m, g.transpose(m)), [[14, 32], [32, 77]]],
  ["matmul of multiples, exact in float64", g.matmul(g.mul(x([[1]]), 4097), g.mul(x([[1]]), 4097)), [[4097 ** 2]]],
  ["a multiple of a matmul of multiples", g.mul(g.matmul(g.mul(x([[1]]), 4097), x([[1]])), 4097), [[4097 ** 2]]],
  ["matmul over no columns", g.matmul(g.reshape(none, [2, 1, 0]), g.reshape(none, [0, 1])), [[[0]], [[0]]]],
  ["matvec", g.matvec(m, [1, 0, -1]), [-2, -2]],
  ["solve", g.solve(x([[2, 0], [1, 1]]), [[2], [3]]), [[1], [2]]],
  ["logAbsDet of a negative determinant", g.logAbsDet(x([[0, 3], [2, 0]])), Math.log(6)],
  ["logAbsDet of small numbers", g.logAbsDet(x([[1e-200, 0], [1e-200, 1e-200]])), 2 * Math.log(1e-200)],
  ["logAbsDet of large numbers", g.logAbsDet(x([[1e200, 0], [1e200, 1e200]])), 2 * Math.log(1e200)],
  ["logAbsDet with a row of zeros", g.logAbsDet(x([[1, 2, 3], [0, 0, 0], [4, 5, 7]])), -Infinity],
  ["logAbsDet with a column of zeros", g.logAbsDet(x([[0, 1], [0, 2]])), -Infinity],
  ["logAbsDet of dependent rows", g.logAbsDet(x([[1, 2, 3], [2, 4, 6], [1, 1, 1]])), -Infinity],
  ["logAbsDet of no matrices", g.logAbsDet(g.reshape(none, [0, 2, 2])), []],
  ["transpose with axes", g.transpose(g.reshape(m, [1, 2, 3]), [2, 0, 1]), [[[1, 4]], [[2, 5]], [[3, 6]]]],
  ["swapAxes", g.swapAxes(m, 0, 1), [[1, 4], [2, 5], [3, 6]]],
  ["reshape reads row by row", g.reshape(m, [3, -1]), [[1, 2], [3, 4], [5, 6]]],
  ["reshape of nothing", g.reshape(none, [0]), []],
  ["laplacian at no points", g.laplacian((t) => g.squaredNorm(g.sin(t)), g.reshape(none, [0, 3])), []],
  ["expand repeats", g.expand(x([[1], [2]]), [2, 3]), [[1, 1, 1], [2, 2, 2]]],
  ["slice with steps", g.slice(x([0, 1, 2, 3, 4, 5, 6]), [1, 7, 2]), [1, 3, 5]],
  ["slice counts from the end", g.slice(m, null, [-2, -1]), [[2], [5]]],
  ["slice keeps an empty axis", g.slice(none, [0, 2]), [[], []]],
  ["at beside an empty axis", g.at(none, 1), []],
  ["at drops the axis", g.at(m, -1, 1), [3, 6]],
  ["pad before and after", g.pad(x([1, 2]), [1], [2]), [0, 1, 2, 0, 0]],
  ["pad's gradient in nothing", g.grad((t: Tensor) => g.sum(g.pad(t, [0, 1], [0, 2])))(none), [[], []]],
  ["flip both axes", g.flip(m, [0, 1]), [[6, 5, 4], [3, 2, 1]]],
  ["concat along the last axis", g.concat([m, [[7], [8]]]), [[1, 2, 3, 7], [4, 5, 6, 8]]],
  ["stack makes a new axis", g.stack([x([1, 2]), [3, 4]], 1), [[1, 3], [2, 4]]],
  ["stack lets numbers take the type beside them", g.stack([1, x(2), 3]), [1, 2, 3]],
  ["split gives equal parts", g.stack(g.split(line, 2)), [[3, 1], [2, 1]]],
  ["split beside an empty axis", g.concat(g.split(none, 2, 0), 0), [[], []]],
  ["take", g.take(m, [2, 0], 1), [[3, 1], [6, 4]]],
  ["take counts negative indices from the end", g.take(line, x([-1, 0], "int32")), [1, 3]],
  ["take's gradient from the end", g.grad((t: Tensor) => weighed(g.take(t, x([-1, 0], "int32"))))(line), [10, 0, 0, 1]],
  ["takeAlong from the end", g.takeAlong(m, x([[-1], [0]], "int64")), [[3], [4]]],
  ["takeAlong's gradient from the end", g.grad((t: Tensor) => weighed(g.takeAlong(t, x([-1, 0], "int64"))))(line), [10, 0, 0, 1]],
  ["take puts the shape of its indices in place of the axis", g.take(line, [[0], [2]]), [[3], [2]]],
  ["takeAlong", g.takeAlong(m, [[2], [0]]), [[3], [4]]],
  ["oneHot", g.oneHot(x([2, 0], "int32"), 3), [[0, 0, 1], [1, 0, 0]]],
  ["iota", g.add(g.iota(4), x(0, "int64")), [0, 1, 2, 3]],
  ["eye", g.mul(g.eye(2, "float64"), x(1)), [[1, 0], [0, 1]]],
  ["argmax takes the first of several", g.argmax(x([1, 3, 3])), 1],
  ["argsort is stable", g.argsort(line), [1, 3, 2, 0]],
  ["sort ascends", g.sort(line), [1, 1, 2, 3]],
  ["sort knows the smallest integer", g.sort(x([5, -(2 ** 31), -3], "int32")), [-(2 ** 31), -3, 5]],
  ["sort of nothing", g.sort(none, 0), [[], []]],
  ["top of nothing", g.top(none, 2, 0), [[], []]],
  ["top descends", g.top(line, 2), [3, 2]],
  ["argTop takes the first of equals first", g.argTop(line, 4), [0, 2, 1, 3]],
  ["conv2d, same, keeps the size", plane(g.conv2d(image, ones(3, 3))), [[12, 21, 16], [27, 45, 33], [24, 39, 28]]],
  ["conv2d, valid", plane(g.conv2d(image, ones(2, 2), { padding: "valid" })), [[12, 16], [24, 28]]],
  ["conv2d, even and same, pads at the end", plane(g.conv2d(image, ones(2, 2))), [[12, 16, 9], [24, 28, 15], [15, 17, 9]]],
  ["conv2d with stride 2", plane(g.conv2d(image, ones(3, 3), { stride: 2 })), [[12, 16], [24, 28]]],
  ["conv2d with padding 1", plane(g.conv2d(image, ones(1, 1), { padding: 1, stride: 2 })), [[0, 0, 0], [0, 5, 0], [0, 0, 0]]],
  ["conv2d does not turn the kernel round", plane(g.conv2d(image, x([[[[1]], [[0]]]]), { padding: "valid" })), [[1, 2], [4, 5], [7, 8]]],
  ["averagePool", plane(g.averagePool(image, 3)), [[5]]],
  ["maxPool", plane(g.maxPool(image, 3)), [[9]]],
  ["upsampleNearest", plane(g.upsampleNearest(x([[[[1], [2]]]]))), [[1, 1, 2, 2], [1, 1, 2, 2]]],
  ["groupNorm of two groups", g.groupNorm(x([[1, 3, 10, 30]]), [1, 1, 1, 2], [0, 0, 0, 5], 2, 0), [[-1, 1, -1, 7]]],
];

const outputs = table.map(([, tensor], i) => ({ name: `y${i}`, tensor }));

const onReference = (): NdArray[] =>
  g
    .reference(
      outputs.map((o) => o.tensor),
      new Map([...given].map(([t, a]) => [t, g.toFloat64(a.data)])),
    )
    .map((data, i) => ({ ...outputs[i].tensor, dtype: "float64", data }));

/** One graph per line, for those with a convolution are not the compiler's. */
async function onCompiler(): Promise<NdArray[]> {
  const exact = onReference();
  return Promise.all(
    outputs.map(async ({ name, tensor }, i) => {
      const inputs = [...given.keys()];
      const session = await wasmSession({ inputs, outputs: [{ name, tensor }], result: undefined });
      if (!session) {
        expect(table[i][0]).toMatch(/conv2d/);
        return exact[i];
      }
      const feeds = inputs.map((t) => [t.attributes.name, given.get(t)]);
      return (await session.run(Object.fromEntries(feeds)))[name];
    }),
  );
}

describe("operations without a value", () => {
  // biome-ignore format: a line a mistake
  it.each<[name: string, make: () => unknown, message: string]>([
    ["clip", () => g.clip(m, [1, 2], 9), "clip: shapes [2, 3] and [2] do not broadcast"],
    ["clip of booleans", () => g.clip(g.less(m, 2), 0, 1), "clip: the operand is bool, not a number"],
    ["expand to a fraction", () => g.expand(x([[1]]), [2.5, 1]), "expand: [1, 1] cannot be expanded to [2.5, 1]"],
    ["expand to a negative size", () => g.expand(x([[1]]), [-1, 1]), "expand: [1, 1] cannot be expanded to [-1, 1]"],
    ["flip twice", () => g.flip(line, [0, -1]), "flip: axes [0, -1] of [4] contain one twice"],
    ["top of too many", () => g.top(line, 5), "top: cannot take 5 of 4 entries"],
    ["top of an axis too many", () => g.top(line, 1, 1), "top: axis 1 does not exist"],
    ["sort of an axis too many", () => g.sort(line, 1), "sort: axis 1 does not exist"],
    ["take before the start", () => g.take(line, [-5]), "take: index -5 is outside"],
    ["oneHot from the end", () => g.oneHot([-1], 3), "oneHot: index -1 is outside 0 … 2"],
    ["oneHot of half a class", () => g.oneHot(x([0], "int32"), 2.5), "oneHot: the size is 2.5"],
    ["iota", () => g.iota(-1), "iota: the size is -1"],
    ["eye", () => g.eye(1.5), "eye: the size is 1.5"],
    ["argmax of nothing", () => g.argmax(none), "argmax: axis -1 of [2, 0] is empty"],
    ["groupNorm, −2 groups", () => g.groupNorm(x([[1, 2]]), [1, 1], [0, 0], -2), "do not divide into -2 groups"],
    ["groupNorm, half a group", () => g.groupNorm(x([[1, 2]]), [1, 1], [0, 0], 0.5), "do not divide into 0.5 groups"],
  ])("%s", (_, make, message) => {
    expect(make).toThrow(message);
  });
});

describe("values by hand", () => {
  it.each([
    ["the reference", async () => onReference()],
    ["ONNX Runtime", () => runOnCpu(outputs, given, "cpu")],
    ["the compiler", () => onCompiler()],
  ] as const)("are those of %s", async (_, run) => {
    const results = await run();
    table.forEach(([name, , value], i) => {
      const { shape, data } = g.flattenNested(value);
      expect(results[i].shape, name).toEqual(shape);
      g.toFloat64(results[i].data).forEach((v, j) => {
        expect(v, name).toBeCloseTo(data[j], 12);
      });
    });
  });

  it("come from one line", async () => {
    const { shape, dtype, data } = await evaluate(
      (t: Tensor) => g.softmax(g.mul(t, 0)),
      [[1, 2, 3, 4]],
    );
    expect([shape, dtype, [...data]]).toEqual([[1, 4], "float64", [0.25, 0.25, 0.25, 0.25]]);
  });
});
