import { describe, expect, it } from "vitest";
import * as g from "../../src/graph/index.ts";
import { DiffeoError, type DType, type ErrorKind, input, type Shape, type Tensor } from "../../src/graph/index.ts";

const t = (shape: Shape, dtype: DType = "float32"): Tensor => input("x", shape, dtype);

/** What a mistake raises: its kind, and everything its message must name; the remedy comes last. */
type Mistake = readonly [name: string, make: () => unknown, kind: ErrorKind, ...parts: readonly string[]];

function error(make: () => unknown): DiffeoError {
  try {
    make();
  } catch (thrown) {
    if (thrown instanceof DiffeoError) return thrown;
    throw thrown;
  }
  return expect.fail("nothing was raised");
}

/** One test a mistake, called by its name. */
function mistakes(table: readonly Mistake[]): void {
  for (const [name, make, kind, ...parts] of table)
    it(name, () => {
      const raised = error(make);
      expect(raised.kind).toBe(kind);
      for (const part of [...parts, raised.remedy]) expect(raised.message.toLowerCase()).toContain(part.toLowerCase());
    });
}

describe("a shape that does not fit is an error of its operation while tracing", () => {
  const referenceOf = (length: number): unknown => {
    const x = t([2]);
    return g.reference([g.neg(x)], new Map([[x, new Float64Array(length)]]));
  };

  mistakes([
    ["add", () => g.add(t([2, 3]), t([4, 3])), "shape", "add", "[2, 3]", "[4, 3]", "make the sizes equal"],
    ["less", () => g.less(t([2]), t([3])), "shape", "less", "[2]", "[3]", "make the sizes equal"],
    ["where", () => g.where(t([2], "bool"), t([3]), 0), "shape", "where", "[2]", "[3]", "make the sizes equal"],
    ["dot", () => g.dot(t([3]), t([4])), "shape", "dot", "[3]", "[4]", "make the sizes equal"],
    ["matmul", () => g.matmul(t([2, 3]), t([2, 3])), "shape", "matmul", "[2, 3] times [2, 3]", "transpose one"],
    ["matmul of vectors", () => g.matmul(t([3]), t([3, 2])), "shape", "matmul", "[3] and [3, 2]", "expandDims"],
    ["matmul of batches", () => g.matmul(t([2, 3, 4]), t([3, 4, 5])), "shape", "matmul", "[2, 3, 4]", "[3, 4, 5]"],
    ["matvec", () => g.matvec(t([2, 3]), t([2])), "shape", "matvec", "[2, 3]", "[2]", "give […, m, n] and […, n]"],
    ["inverse", () => g.inverse(t([2, 3])), "shape", "inverse", "[2, 3]", "must be equal"],
    ["solve", () => g.solve(t([2, 2]), t([3, 1])), "shape", "solve", "[2, 2]", "[3, 1]", "give […, n, n]"],
    ["solve for a vector", () => g.solve(t([2, 2]), t([2])), "shape", "solve", "[2, 2]", "[2]", "expandDims(b, -1)"],
    ["cholesky", () => g.cholesky(t([2, 3])), "shape", "cholesky", "[2, 3]", "must be equal"],
    ["symmetric", () => g.symmetric(t([2, 4])), "shape", "symmetric", "[2, 4]", "1, 3, 6, 10"],
    ["logAbsDet", () => g.logAbsDet(t([4])), "shape", "logAbsDet", "[4]", "must be equal"],
    ["sum", () => g.sum(t([2, 3]), 2), "shape", "sum", "axis 2", "rank 2", "use -2 to 1"],
    ["softmax of a scalar", () => g.softmax(t([])), "shape", "softmax", "rank 0", "give a tensor with an axis"],
    ["reshape", () => g.reshape(t([2, 3]), [4]), "shape", "reshape", "[2, 3]", "[4]", "product is the same"],
    ["reshape to two unknowns", () => g.reshape(t([6]), [-1, -1]), "shape", "reshape", "[6]", "at most one −1"],
    ["reshape to negative sizes", () => g.reshape(t([6]), [-2, -3]), "shape", "reshape", "[6]", "[-2, -3]"],
    ["transpose", () => g.transpose(t([2, 3]), [0, 0]), "shape", "transpose", "[0, 0]", "every axis once"],
    ["transpose of a vector", () => g.transpose(t([2])), "shape", "transpose", "[2]", "expandDims"],
    ["expand", () => g.expand(t([2, 3]), [3]), "shape", "expand", "[2, 3]", "[3]", "axes of size 1"],
    ["slice to nothing", () => g.slice(t([4]), [3, 3]), "shape", "slice", "[3, 3, 1]", "size 4", "start < stop"],
    ["slice at a fraction", () => g.slice(t([4]), [0.5, 2]), "shape", "slice", "[0.5, 2, 1]", "start < stop"],
    ["slice of too many axes", () => g.slice(t([4]), [0, 1], [0, 1]), "shape", "slice", "2 ranges", "[4]"],
    ["at", () => g.at(t([2, 4]), 4, 1), "shape", "at: index 4", "[2, 4]", "within the axis"],
    ["pad", () => g.pad(t([4]), [1, 2], [0, 0]), "shape", "pad", "[1, 2]", "[4]", "every axis"],
    ["pad by a fraction", () => g.pad(t([4]), [0.5], [0]), "shape", "pad", "[0.5]", "≥ 0"],
    ["concat", () => g.concat([t([2, 3]), t([3, 3])]), "shape", "concat", "[2, 3]", "[3, 3]", "other axes equal"],
    ["stack", () => g.stack([t([2]), t([3])]), "shape", "stack", "[2]", "[3]", "one shape"],
    ["squeeze", () => g.squeeze(t([2, 3]), 0), "shape", "squeeze", "[2, 3]", "size 1"],
    ["split", () => g.split(t([5]), 2), "shape", "split", "[5]", "divisor"],
    ["split into −2", () => g.split(t([4]), -2), "shape", "split", "[4]", "divisor"],
    ["take", () => g.take(t([3]), [0, 3]), "shape", "take", "index 3", "0 … 2", "within the axis"],
    ["takeAlong", () => g.takeAlong(t([2, 3]), t([3, 1], "int32")), "shape", "takeAlong", "[3, 1]", "[2, 3]"],
    ["oneHot", () => g.oneHot([5], 3), "shape", "oneHot", "index 5", "within the axis"],
    ["argTop", () => g.argTop(t([3]), 4), "shape", "argTop", "4 of 3", "1 ≤ k"],
    ["top of one and a half", () => g.top(t([3]), 1.5), "shape", "top: cannot take 1.5 of 3"],
    ["conv2d", () => g.conv2d(t([1, 4, 4, 2]), t([3, 3, 3, 1])), "shape", "conv2d", "[1, 4, 4, 2]", "[3, 3, 3, 1]"],
    [
      "conv2d, a large kernel",
      () => g.conv2d(t([1, 2, 2, 1]), t([3, 3, 1, 1]), { padding: "valid" }),
      "shape",
      "3×3",
      "2×2",
      "padding",
    ],
    ["averagePool", () => g.averagePool(t([1, 5, 4, 1])), "shape", "averagePool", "[1, 5, 4, 1]", "divide"],
    ["upsampleNearest", () => g.upsampleNearest(t([4, 4])), "shape", "upsampleNearest", "[4, 4]", "channels"],
    ["groupNorm", () => g.groupNorm(t([1, 4, 3]), t([3]), t([3]), 2), "shape", "groupNorm", "[1, 4, 3]", "divisor"],
    ["groupNorm's scale", () => g.groupNorm(t([1, 4]), t([3]), t([4]), 2), "shape", "groupNorm", "[3]", "[1, 4]"],
    ["grad", () => g.grad((x: Tensor) => g.sin(x))(t([3])), "shape", "grad", "[3]", "sum it"],
    ["vjp", () => g.vjp((x: Tensor) => x, t([3]))[1](t([4])), "shape", "vjp: the cotangent", "[4]", "the result [3]"],
    ["vjp, one missing", () => g.vjp((x: Tensor) => [x, x], t([3]))[1]([t([3])]), "shape", "cotangent", "at 1"],
    ["vjp, another key", () => g.vjp((x: Tensor) => ({ a: x }), t([3]))[1]({ b: t([3]) } as never), "shape", "at b"],
    ["jvp", () => g.jvp((x: Tensor) => x, t([3]), t([4])), "shape", "jvp: the direction", "[4]", "the point [3]"],
    ["jvp, one too many", () => g.jvp(([x]: Tensor[]) => x, [t([3])], [t([3]), t([3])]), "shape", "jvp", "at 1"],
    ["jvp, deep inside", () => g.jvp((p) => p.a.b, { a: { b: t([3]) } }, { a: { b: t([4]) } }), "shape", "at a.b"],
    ["hvp", () => g.hvp((x) => g.sum(x), t([3]), t([4])), "shape", "hvp: the direction", "[4]", "the point [3]"],
    ["hvp of a group", () => g.hvp((p) => p.a, { a: t([]) }, { b: t([]) } as never), "shape", "hvp", "at b"],
    ["jacobian", () => g.jacobian((x) => x, t([])), "shape", "jacobian", "[]", "expandDims"],
    ["jacobian of one number", () => g.jacobian(g.squaredNorm, t([3])), "shape", "jacobian", "[3, m]", "take grad"],
    ["… a sample", () => g.jacobian(g.squaredNorm, t([2, 2])), "shape", "jacobian", "[2, 2, 2] to [2, 2]", "take grad"],
    ["… of another size", () => g.jacobian(g.squaredNorm, t([2, 3])), "shape", "jacobian", "[3, 2, 3] to [3, 2]"],
    ["jacobian of two batches", () => g.jacobian((p) => p.w, { w: t([2, 3]), b: t([3]) }), "shape", "[2, 3] and [3]"],
    [
      "traceJacobian",
      () => g.traceJacobian((x) => g.sum(x, -1, { keepDims: true }), t([3])),
      "shape",
      "traceJacobian",
      "[3, 1]",
    ],
    [
      "… along v",
      () => g.traceJacobian((x) => g.sum(x, -1, { keepDims: true }), t([3]), t([3])),
      "shape",
      "traceJacobian",
      "[1]",
    ],
    ["… of v", () => g.traceJacobian((x) => x, t([3]), t([4])), "shape", "traceJacobian: the direction", "[4]"],
    [
      "… of another structure",
      () => g.traceJacobian((p) => p.a as never, { a: t([3]) }),
      "shape",
      "traceJacobian",
      "a",
    ],
    ["laplacian", () => g.laplacian((x) => x, t([])), "shape", "laplacian", "[]", "expandDims"],
    ["input", () => input("x", [2.5]), "shape", 'input "x"', "[2.5]", "whole number"],
    ["reference", () => referenceOf(3), "shape", "reference", "3 numbers", "[2]"],
  ]);
});

describe("a type that does not fit is an error of its operation while tracing", () => {
  mistakes([
    ["two float types", () => g.sub(t([2]), t([2], "float64")), "type", "sub", "float32 and float64", "cast one"],
    ["float and integer", () => g.less(t([2]), t([2], "int32")), "type", "less", "float32 and int32", "cast one"],
    ["branches of where", () => g.where(t([2], "bool"), t([2]), t([2], "int32")), "type", "where", "float32 and int32"],
    ["a condition of floats", () => g.where(t([2]), 1, 2), "type", "where", "float32", "compare it"],
    ["logic of floats", () => g.logicalAnd(t([2]), t([2])), "type", "and", "float32", "compare it"],
    ["exp of integers", () => g.exp(t([2], "int32")), "type", "exp", "int32", "cast it to float32"],
    ["silu of integers", () => g.silu(t([2], "int64")), "type", "silu", "int64", "cast it to float32"],
    ["mean of integers", () => g.mean(t([2], "int32")), "type", "mean", "int32", "cast it"],
    ["matmul of integers", () => g.matmul(t([2, 2], "int32"), t([2, 2], "int32")), "type", "matmul", "int32"],
    ["conv2d of integers", () => g.conv2d(t([1, 1, 1, 1], "int32"), t([1, 1, 1, 1], "int32")), "type", "conv2d"],
    ["adding booleans", () => g.add(t([2], "bool"), t([2], "bool")), "type", "add", "bool", "cast it"],
    ["negating booleans", () => g.neg(t([2], "bool")), "type", "neg", "bool", "cast it"],
    ["summing booleans", () => g.sum(t([2], "bool")), "type", "sum", "bool", "cast it"],
    ["ordering booleans", () => g.less(t([2], "bool"), t([2], "bool")), "type", "less", "bool", "cast it"],
    ["half of an integer", () => g.mul(t([2], "int32"), 0.5), "type", "0.5 is no int32", "whole numbers"],
    ["a number out of range", () => g.mul(t([2], "int32"), 1e12), "type", "1000000000000 is no int32"],
    ["an int64 that is none", () => g.ndarray([0.5], "int64"), "type", "ndarray: 0.5 is no int64"],
    ["an array to be cut", () => g.mul(t([2], "int32"), g.ndarray([0.5])), "type", "mul", "int32 and float32", "cast"],
    ["an array to be rounded", () => g.mul(t([2]), g.ndarray([0.5], "float64")), "type", "mul", "float32 and float64"],
    ["an unknown type", () => g.ndarray([1], "float16" as DType), "type", "float16", "use float32"],
    ["concat of two types", () => g.concat([t([2]), t([2], "float64")]), "type", "concat", "float32 and float64"],
    ["indices of floats", () => g.take(t([3]), t([2])), "type", "take", "float32", "cast them to int32"],
    ["the gradient in integers", () => g.grad((x: Tensor) => g.sum(x))(t([3], "int32")), "type", "int32", "cast it"],
    ["the gradient of integers", () => g.grad((x: Tensor) => g.argmax(x))(t([3])), "type", "grad", "int64", "float"],
    [
      "the gradient in a list",
      () => g.grad((x: number[]) => g.sum(x))([1, 2]),
      "type",
      "grad",
      "a number, at 0",
      "evaluate",
    ],
    ["the gradient in an array", () => g.grad((x: g.Operand) => g.sum(x))(g.ndarray(1)), "type", "grad", "an array"],
    [
      "the gradient of a number",
      () => g.grad(() => 3 as never)(t([3])),
      "type",
      "grad: the function returned a number",
    ],
    ["vjp at a number", () => g.vjp((x) => x, 3), "type", "vjp", "a number", "inside compile or evaluate"],
    ["vjp of a number", () => g.vjp((_: Tensor) => 3, t([3])), "type", "vjp: the function returned a number"],
    ["jvp at a number", () => g.jvp((x) => x, 3, 1), "type", "jvp", "a number", "inside compile or evaluate"],
    ["a string", () => g.mul(t([2]), "3" as unknown as number), "type", "string", "give a tensor"],
    ["nothing", () => g.mul(t([2]), undefined as unknown as number), "type", "nothing given", "give a tensor"],
    ["null inside a list", () => g.add(t([2]), [1, null] as unknown as number[]), "type", "null", "at [1]"],
  ]);
});

describe("other mistakes while tracing", () => {
  const ragged = (value: unknown): unknown => g.ndarray(value as g.Nested);

  mistakes([
    ["a ragged list", () => ragged([[1, 2], [3]]), "shape", "ragged at [1]", "2 entries", "every row the same"],
    ["a number among lists", () => ragged([[1, 2], 3]), "shape", "ragged at [1]", "every row the same"],
    ["a list among numbers", () => ragged([1, [2]]), "shape", "ragged at [1]", "expected a number"],
    ["a ragged operand", () => g.add(t([2]), [[1], [2, 3]]), "shape", "ragged at [1]", "1 entries"],
    ["concat of nothing", () => g.concat([]), "usage", "concat", "at least one"],
    ["stack of nothing", () => g.stack([]), "usage", "stack", "at least one"],
    ["a stride of 0", () => g.conv2d(t([1, 1, 1, 1]), t([1, 1, 1, 1]), { stride: 0 }), "usage", "stride 0", "≥ 1"],
    [
      "a padding of −1",
      () => g.conv2d(t([1, 1, 1, 1]), t([1, 1, 1, 1]), { padding: -1 }),
      "usage",
      "padding -1",
      "≥ 0",
    ],
    ["inputs of one name", () => g.writeOnnx([{ name: "y", tensor: g.add(t([2]), t([2])) }]), "usage", '"x"'],
    ["an output with the name of an input", () => g.writeOnnx([{ name: "x", tensor: g.neg(t([2])) }]), "usage", '"x"'],
    ["an input without a value", () => g.reference([g.neg(t([2]))], new Map()), "usage", '"x"', "pass one"],
  ]);
});
