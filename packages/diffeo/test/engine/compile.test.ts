/**
 * From functions on tensors to functions on arrays: structure, shapes, memory, and errors of
 * invalid input.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { hasNonFinite, requireNoNaN } from "../../src/engine/finite.ts";
import {
  add,
  type CompileOptions,
  compile,
  DeviceArray,
  DiffeoError,
  devices,
  div,
  type ErrorKind,
  evaluate,
  exp,
  type FloatType,
  greater,
  inverse,
  log,
  matmul,
  max,
  mul,
  ndarray,
  reshape,
  softmax,
  sqrt,
  sub,
  sum,
  type Tensor,
  take,
  where,
} from "../../src/index.ts";

const identity = (x: Tensor): Tensor => mul(x, 1.5);

/** The error of a call, which must be one of ours with cause and remedy. */
async function refusal(
  call: () => Promise<unknown>,
): Promise<{ readonly kind: ErrorKind; readonly message: string }> {
  const error = await Promise.resolve()
    .then(call)
    .then(
      () => undefined,
      (e: unknown) => e,
    );
  expect(error).toBeInstanceOf(DiffeoError);
  const { kind, message, remedy } = error as DiffeoError;
  expect(remedy.length).toBeGreaterThan(3);
  expect(message.toLowerCase()).toContain(remedy.toLowerCase());
  return { kind, message };
}

describe("compile", () => {
  it("accepts numbers, nested numbers, typed arrays and arrays with a shape", async () => {
    const f = compile(identity, [[null, 2]]);
    const expected = { shape: [2, 2], dtype: "float32", data: Float32Array.of(1.5, 3, 4.5, 6) };
    const rows = [
      [1, 2],
      [3, 4],
    ];
    expect(await f(rows)).toEqual(expected);
    expect(await f(Float32Array.of(1, 2, 3, 4))).toEqual(expected);
    expect(await f(ndarray(rows))).toEqual(expected);
    await f.dispose();
    const scalar = compile(identity, [[]], { type: "float64" });
    expect(await scalar(2)).toEqual({ shape: [], dtype: "float64", data: Float64Array.of(3) });
    await scalar.dispose();
  });

  it("keeps the structure of arguments and results", async () => {
    const f = compile(
      (p: { w: Tensor; layers: readonly [Tensor, Tensor] }) => ({
        total: add(p.w, p.layers[0]),
        rest: [p.layers[1]],
      }),
      [{ w: [2], layers: [[2], { shape: [1], dtype: "int32" }] }],
    );
    const y = await f({ w: [1, 2], layers: [[10, 20], [7]] });
    expect(y.total.data).toEqual(Float32Array.of(11, 22));
    expect(y.rest[0]).toEqual({ shape: [1], dtype: "int32", data: Int32Array.of(7) });
    await f.dispose();
  });

  it("traces once per shape", async () => {
    let traces = 0;
    const f = compile(
      (x: Tensor) => {
        traces++;
        return softmax(x);
      },
      [[null, 3]],
    );
    for (const n of [1, 2, 1, 2, 2])
      expect((await f(new Float32Array(3 * n))).shape).toEqual([n, 3]);
    expect(traces).toBe(2);
    await f.dispose();
  });

  it("gives the same numbers if it is opened to run once", async () => {
    const f = (x: Tensor, y: Tensor) => softmax(add(matmul(exp(mul(x, -0.5)), y), div(1, sqrt(y))));
    const [x, y] = [[[0.3, -1.2], [0.7, 2.1]], [[1.5, 0.4], [0.9, 2.2]]]; // biome-ignore format: matrices
    for (const type of ["float32", "float64"] as const) {
      const [often, once] = [false, true].map((own) => compile(f, [[2, 2], [2, 2]], { type, once: own })); // biome-ignore format: shapes
      expect((await once(x, y)).data).toEqual((await often(x, y)).data);
      await Promise.all([often.dispose(), once.dispose()]);
    }
  });

  it("returns inputs and constants that a function passes through as new arrays", async () => {
    for (const device of ["cpu", "wasm", "reference"]) {
      const f = compile((x: Tensor) => [x, x, sum(x)], [[2]], { device, type: "float64" });
      const x = Float64Array.of(1, 2);
      const [a, b] = await f(x);
      (a.data as Float64Array)[0] = 99;
      expect([...(b.data as Float64Array)]).toEqual([1, 2]);
      expect([...x]).toEqual([1, 2]);
      await f.dispose();
    }
  });

  it("returns every type unchanged", async () => {
    const f = compile((i: Tensor, j: Tensor, b: Tensor) => [add(i, 1), add(j, 1), b], [
      { shape: [2], dtype: "int32" },
      { shape: [2], dtype: "int64" },
      { shape: [2], dtype: "bool" },
    ] as const);
    const [i, j, b] = await f([1, 2], BigInt64Array.of(3n, 2n ** 60n), [0, 1]);
    expect(i.data).toEqual(Int32Array.of(2, 3));
    expect(j.data).toEqual(BigInt64Array.of(4n, 2n ** 60n + 1n));
    expect(b).toEqual({ shape: [2], dtype: "bool", data: Uint8Array.of(0, 1) });
    await f.dispose();
  });
});

describe("memory", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;

  it.each([false, true])(
    "does not retain results of earlier calls (worker: %s)",
    async (worker) => {
      const MEGABYTE = 1 << 20;
      const f = compile(identity, [[MEGABYTE / 4]], { worker });
      const x = new Float32Array(MEGABYTE / 4);
      const heldAfter = async (calls: number): Promise<number> => {
        for (let i = 0; i < calls; i++) await f(x);
        collect();
        return process.memoryUsage().arrayBuffers;
      };
      const before = await heldAfter(5);
      // A worker collects what it was sent when it likes.
      expect((await heldAfter(200)) - before).toBeLessThan(60 * MEGABYTE);
      await f.dispose();
    },
  );
});

describe("evaluate", () => {
  it("accepts trees of arrays, as compile does", async () => {
    const f = (
      { w, layers }: { w: Tensor; layers: readonly Tensor[] },
      x: Tensor,
    ): { y: Tensor } => ({
      y: add(mul(w, x), add(layers[0], layers[1])),
    });
    const { y } = await evaluate(
      f,
      { w: [1, 2], layers: [ndarray([3, 4]), Float32Array.of(5, 6)] },
      10,
    );
    expect(y).toEqual({ shape: [2], dtype: "float64", data: Float64Array.of(18, 30) });
  });

  it("converts operand arrays to the type of the other operand if it can represent their numbers", async () => {
    const { data } = await evaluate(() => add(ndarray([0.1], "float64"), 2));
    expect(data).toEqual(Float64Array.of(2.1));
    const wide = await evaluate(
      (x: Tensor) => add(mul(ndarray([2]), x), ndarray([1], "int32")),
      [0.1],
    );
    expect(wide.data).toEqual(Float64Array.of(1.2));
  });

  it("converts every float to float64, and keeps integers and booleans", async () => {
    const third = await evaluate((x: Tensor) => div(x, 3), ndarray([1]));
    expect(third.data).toEqual(Float64Array.of(1 / 3));
    const total = await evaluate((x: Tensor, y: Tensor) => add(x, y), ndarray([1, 2]), [3, 4]);
    expect(total.data).toEqual(Float64Array.of(4, 6));
    const [i, j, b] = await evaluate(
      (...x: [Tensor, Tensor, Tensor]) => x,
      ndarray([1], "int32"),
      BigInt64Array.of(2n),
      ndarray([1], "bool"),
    );
    expect([i.dtype, j.dtype, b.dtype]).toEqual(["int32", "int64", "bool"]);
  });

  it("computes once in float64", async () => {
    expect(await evaluate((x: Tensor, y: Tensor) => div(x, sub(x, y)), [1, 2], 4)).toEqual({
      shape: [2],
      dtype: "float64",
      data: Float64Array.of(-1 / 3, -1),
    });
    expect((await evaluate((x: Tensor) => sum(x), Float32Array.of(1, 2, 3))).data).toEqual(
      Float64Array.of(6),
    );
  });
});

describe("devices", () => {
  it("are listed by name", async () => {
    expect((await devices()).map((d) => d.name)).toEqual([
      "cpu",
      "onnxruntime",
      "webgpu",
      "cuda",
      "wasm",
      "reference",
    ]);
  });

  it("that do not exist are refused with the list of devices", async () => {
    const { kind, message } = await refusal(() => compile(identity, [[1]], { device: "tpu" })([1]));
    expect(kind).toBe("device");
    expect(message).toMatch(
      /unknown device "tpu".*cpu, onnxruntime, webgpu, cuda, wasm, reference/,
    );
  });

  it("that this machine lacks are refused with instructions", async () => {
    const { kind, message } = await refusal(() =>
      compile(identity, [[1]], { device: "cuda" })([1]),
    );
    expect(kind).toBe("device");
    expect(message).toMatch(/"cuda" did not start.*=cuda12 npm install onnxruntime-node/s);
  });

  it("without float64 refuse a float64 graph", async () => {
    const { kind, message } = await refusal(() =>
      compile(identity, [[1]], { device: "webgpu", type: "float64" })([1]),
    );
    expect(kind).toBe("type");
    expect(message).toMatch(/does not compute in float64/);
  });

  it("without workers refuse a worker", async () => {
    const { kind } = await refusal(() =>
      compile(identity, [[1]], { device: "reference", worker: true })([1]),
    );
    expect(kind).toBe("usage");
  });
});

describe("a tree", () => {
  it("may have tensors named shape and data", async () => {
    const f = compile(
      (p: { shape: Tensor; data: Tensor }) => mul(p.shape, p.data),
      [{ shape: [2], data: [2] }],
    );
    expect((await f({ shape: [1, 2], data: [3, 4] })).data).toEqual(Float32Array.of(3, 8));
    await f.dispose();
  });

  it("with an empty list is refused with the advice that [] is a scalar", async () => {
    const f = compile((p: { w: Tensor; rest: readonly Tensor[] }) => p.w, [{ w: [1], rest: [] }]);
    expect((await refusal(() => f({ w: [1], rest: [] }))).message).toMatch(
      /argument 0\.rest: .*\[\] is a scalar/,
    );
  });
});

describe("invalid options", () => {
  it.each<[string, CompileOptions, ErrorKind]>([
    ["no threads", { threads: 0 }, "usage"],
    ["a negative number of threads", { threads: -1 }, "usage"],
    ["half a thread", { threads: 1.5 }, "usage"],
    ["threads in a string", { threads: "2" as unknown as number }, "usage"],
    ["an unknown type", { type: "float16" as FloatType }, "type"],
  ])("%s", async (_, options, kind) => {
    expect((await refusal(async () => compile(identity, [[1]], options)([1]))).kind).toBe(kind);
  });
});

describe("invalid input", () => {
  const f = compile((x: Tensor, p: { w: Tensor }) => matmul(x, p.w), [[null, 3], { w: [3, 2] }]);
  const w = new Float32Array(6);
  const anything = f as unknown as (...args: unknown[]) => Promise<unknown>;
  const rows = [[1, 2, 3]];

  it.each<[string, ErrorKind, RegExp, unknown[]]>([
    [
      "a shape that does not fit",
      "shape",
      /argument 0: the shape is \[1, 2\], \[any, 3\] is expected/,
      [[[1, 2]], { w }],
    ],
    [
      "a length that does not divide",
      "shape",
      /argument 0: 4 numbers do not fill.*\[any, 3\]/,
      [new Float32Array(4), { w }],
    ],
    ["rows of different lengths", "shape", /ragged at \[1\]/, [[[1, 2, 3], [1]], { w }]],
    [
      "data that do not fill their shape",
      "shape",
      /argument 1\.w: 6 numbers do not fill the shape \[3, 3\]/,
      [rows, { w: { shape: [3, 3], dtype: "float32", data: w } }],
    ],
    [
      "another element type",
      "type",
      /argument 1\.w: a Float64Array is given to a float32 graph.*Float32Array/,
      [rows, { w: new Float64Array(6) }],
    ],
    ["a string", "type", /argument 0: a string is given, an array is expected/, ["1 2 3", { w }]],
    [
      "an array without numbers",
      "type",
      /argument 0: nothing is given to a float32 graph/,
      [{ ...ndarray(rows), data: undefined }, { w }],
    ],
    ["nothing", "type", /argument 1\.w: nothing is given/, [rows, {}]],
    [
      "a number where a group belongs",
      "type",
      /argument 1: a number is given, a group of arrays is expected/,
      [rows, 1],
    ],
    [
      "an array where a group belongs",
      "type",
      /argument 1: a Float32Array is given, a group/,
      [rows, w],
    ],
    [
      "a key too many",
      "type",
      /argument 1\.b: a number is given, nothing is expected/,
      [rows, { w, b: 1 }],
    ],
    ["too few arguments", "usage", /1 arguments are given, 2 are expected/, [rows]],
    ["too many arguments", "usage", /3 arguments are given, 2 are expected/, [rows, { w }, 1]],
  ])("%s is refused", async (_, kind, message, args) => {
    const error = await refusal(() => anything(...args));
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(message);
  });

  it.each<[string, ErrorKind, RegExp, unknown]>([
    ["too short", "type", /argument 0\.1: nothing is given, an array is expected/, [[1, 2]]],
    ["too long", "type", /argument 0\.2: a list is given, nothing is expected/, [[1, 2], [3], [4]]],
    ["with a wrong shape inside", "shape", /argument 0\.1: the shape is \[2\], \[1\] is expected/, [[1, 2], [3, 4]]], // biome-ignore format: a list
    ["missing", "type", /argument 0: nothing is given, a list of arrays is expected/, undefined],
  ])("a list %s is refused", async (_, kind, message, list) => {
    const second = compile(([, x]: readonly [Tensor, Tensor]) => x, [[[2], [1]]] as const);
    const error = await refusal(() => second(list as never));
    expect(error).toEqual({ kind, message: expect.stringMatching(message) });
  });

  it.each([
    ["int32", 0.5],
    ["int32", 2 ** 31],
    ["int64", 0.5],
    ["int64", Number.NaN],
    ["int64", 2 ** 63],
  ] as const)("a number that is not an %s is refused: %d", async (dtype, value) => {
    const integers = compile((x: Tensor) => x, [{ shape: [2], dtype }]);
    const { kind, message } = await refusal(() => integers([0, value]));
    expect([kind, message]).toEqual([
      "type",
      expect.stringContaining(`argument 0: ${value} is not an ${dtype}`),
    ]);
  });

  it.each([
    [undefined, "nothing"],
    [null, "null"],
    ["1", "a string"],
  ])("evaluate refuses %s", async (value, name) => {
    const { message } = await refusal(() =>
      evaluate((x: Tensor, _: { y: Tensor }) => x, 1, { y: value as never }),
    );
    expect(message).toMatch(`argument 1.y: ${name} is given, an array is expected`);
  });

  it("two open sizes cannot be inferred from a flat array", async () => {
    const open = compile(identity, [[null, null]]);
    const { kind, message } = await refusal(() => open(new Float32Array(6)));
    expect([kind, message]).toEqual([
      "shape",
      expect.stringMatching(/argument 0: .*2 open sizes.*\{ shape, dtype, data \}/),
    ]);
  });

  it("in the function is refused by the operation that detects it, and a later call can succeed", async () => {
    const product = compile(
      (a: Tensor, b: Tensor) => matmul(a, b),
      [
        [2, null],
        [null, 2],
      ],
    );
    const { kind, message } = await refusal(() => product([[1], [2]], [[1, 2], [3, 4]])); // biome-ignore format: matrices
    expect(kind).toBe("shape");
    expect(message).toMatch(/matmul: \[2, 1\] times \[2, 2\]/);
    expect((await product([[1], [2]], [[3, 4]])).data).toEqual(Float32Array.of(3, 4, 6, 8));
    await product.dispose();
  });

  it.each<[string, unknown, RegExp]>([
    ["no tensor", 3, /returned something that is not a tensor: a number/],
    [
      "no tensor somewhere inside",
      [ndarray(1)],
      /returned something that is not a tensor: an array, at 0/,
    ],
    ["empty", {}, /returned no tensors/],
  ])("a result that is %s is refused", async (_, result, message) => {
    const error = await refusal(() => compile(() => result as Tensor, [])());
    expect(error).toEqual({ kind: "type", message: expect.stringMatching(message) });
  });
});

describe("errors that depend on the numbers", () => {
  const entry = (x: Tensor, i: Tensor): Tensor => take(x, i);
  const int = { shape: [1], dtype: "int32" } as const;

  it.each(["cpu", "wasm"])("is an error of the compiler too, once a call (%s)", async (device) => {
    const f = compile(entry, [[3], int], { device });
    const { kind, message } = await refusal(() => f([1, 2, 3], [5]));
    expect([kind, message]).toEqual([
      "numerical",
      expect.stringMatching(/^an index of take is out of range\. Look at the integers/),
    ]);
    expect((await f([1, 2, 3], [-1])).data).toEqual(Float32Array.of(3));
    const quotient = compile((a: Tensor, b: Tensor) => div(a, b), [int, int], { device });
    expect((await refusal(() => quotient([1], [0]))).message).toMatch(
      /^an integer is divided by 0/,
    );
    expect((await quotient([-7], [2])).data).toEqual(Int32Array.of(-3));
    await f.dispose();
    await quotient.dispose();
  });

  it.each([false, true])("are reported with the runtime's message (worker: %s)", async (worker) => {
    const device = "onnxruntime";
    const f = compile(entry, [[3], int], { device, worker });
    const { kind, message } = await refusal(() => f([1, 2, 3], [5]));
    expect(kind).toBe("numerical");
    expect(message).toMatch(
      /^the runtime failed in the ONNX operator Gather: indices element out of data bounds, idx=5/,
    );
    await f.dispose();
    const quotient = compile((a: Tensor, b: Tensor) => div(a, b), [int, int], { device, worker });
    expect((await refusal(() => quotient([1], [0]))).message).toMatch(
      /operator Div: Integer division by zero/,
    );
    await quotient.dispose();
  });

  it("are distinguished from lack of memory", async () => {
    // 4·10¹⁴ bytes are more than a process can address.
    const n = 1e7;
    const outer = compile((x: Tensor) => mul(reshape(x, [n, 1]), x), [[n]]);
    const { kind, message } = await refusal(() => outer(new Float32Array(n)));
    expect(kind).toBe("device");
    expect(message).toMatch(
      /Failed to allocate memory .*\. Use smaller batches, or a device with more memory\.$/,
    );
    await outer.dispose();
  });

  it("are traced to their operation by the reference, as the remedy says", async () => {
    const f = compile(entry, [[3], int], { device: "reference", checkFinite: true });
    expect((await refusal(() => f([1, 2, 3], [5]))).message).toMatch(/^take made the first NaN/);
    const quotient = compile((a: Tensor, b: Tensor) => div(a, b), [int, int], {
      device: "reference",
    });
    expect((await refusal(() => quotient([1], [0]))).message).toMatch(
      /^result y has Infinity, which is not an int32/,
    );
  });
});

describe("checkFinite", () => {
  const bad = (x: Tensor): Tensor => add(div(x, sub(x, 1)), exp(log(sub(x, 2))));

  it.each(["cpu", "wasm", "reference"])(
    "names the first operation that made a NaN or infinity on %s",
    async (device) => {
      const f = compile(bad, [[3]], { device, type: "float64", checkFinite: true });
      expect((await f([3, 4, 5])).data).toHaveLength(3);
      const logarithm = await refusal(() => f([3, 4, 1.5]));
      expect(logarithm.kind).toBe("numerical");
      expect(logarithm.message).toMatch(
        /^log made the first NaN, at the flat index 2 of shape \[3\], from sub \[3\]/,
      );
      await f.dispose();
      const reciprocal = compile((x: Tensor) => div(1, x), [[2]], { device, checkFinite: true });
      expect((await refusal(() => reciprocal([1, 0]))).message).toMatch(
        /^div made the first Infinity, at the flat index 1/,
      );
      await reciprocal.dispose();
    },
  );

  it("reports NaN rather than an infinity, which may be intended", async () => {
    const masked = (x: Tensor, mask: Tensor): Tensor[] => [
      softmax(add(x, log(mask))),
      sqrt(sub(x, 5)),
    ];
    const f = compile(masked, [[2], [2]], { checkFinite: true });
    expect((await refusal(() => f([6, 4], [0, 1]))).message).toMatch(
      /^sqrt made the first NaN, at the flat index 1/,
    );
    expect((await f([6, 7], [0, 1]))[0].data).toEqual(Float32Array.of(0, 1));
    await f.dispose();
  });

  it("names a NaN in an argument, also if the result does not depend on it", async () => {
    const f = compile(
      (x: Tensor, p: { y: Tensor }) => [max(x), where(greater(p.y, 0), 1, 0)],
      [[4], { y: [2] }],
      {
        checkFinite: true,
      },
    );
    const y = [1, 2];
    expect((await refusal(() => f([1, Number.NaN, 3, 2], { y }))).message).toMatch(
      /argument 0 has NaN at the flat index 1/,
    );
    expect((await refusal(() => f([1, 2, 3, 4], { y: [1, Number.NaN] }))).message).toMatch(
      /argument 1\.y has NaN/,
    );
    await f.dispose();
  });

  it("checks arrays that stay on their device", async () => {
    const kept = (...values: number[]): DeviceArray =>
      new DeviceArray(
        [values.length],
        "float32",
        "webgpu",
        undefined,
        async () => ndarray(values),
        () => undefined,
      );
    expect(await hasNonFinite({ y: kept(1, 2) })).toBe(false);
    expect(await hasNonFinite({ y: kept(1, Number.NaN) })).toBe(true);
    await expect(requireNoNaN({ x0: kept(1, Number.NaN) })).rejects.toThrow(
      "argument 0 has NaN at the flat index 1",
    );
  });

  it("names the inverse of a singular matrix", async () => {
    const f = compile((a: Tensor) => inverse(a), [[2, 2]], {
      device: "reference",
      checkFinite: true,
    });
    expect((await refusal(() => f([[1, 2], [2, 4]]))).message).toMatch(/^inverse made the first/); // biome-ignore format: a matrix
  });

  it("is off by default", async () => {
    const f = compile(log, [[1]], { type: "float64" });
    expect((await f([-1])).data).toEqual(Float64Array.of(Number.NaN));
    await f.dispose();
  });
});

describe("dispose", () => {
  it("lets running calls finish, refuses later ones, and may be called twice", async () => {
    const f = compile(identity, [[1]]);
    await f([1]);
    const running = f([2]);
    const done = f.dispose();
    const late = refusal(() => f([3]));
    expect((await running).data).toEqual(Float32Array.of(3));
    await Promise.all([done, f.dispose()]);
    expect(await late).toMatchObject({
      kind: "disposed",
      message: expect.stringMatching(/Compile it again/),
    });
  });

  it("of a function whose graph was refused does nothing", async () => {
    const f = compile((x: Tensor) => matmul(x, x), [[2, 3]]);
    await refusal(() => f(new Float32Array(6)));
    await f.dispose();
  });
});

it.each([[[]], [[3]]])(
  "a chain of 3,000 operations on numbers of shape %j is compiled",
  async (shape) => {
    const f = compile(
      (x: Tensor) => {
        let y = x;
        for (let i = 0; i < 1500; i++) y = add(mul(y, 0.999), x);
        return y;
      },
      [shape],
      { device: "wasm", type: "float64" },
    );
    const size = shape.reduce((a, b) => a * b, 1);
    const { data } = await f({ shape, dtype: "float64", data: new Float64Array(size).fill(0.3) });
    await f.dispose();
    // 0.3 Σ 0.999^i for i = 0 … 1500
    for (const y of data) expect(Number(y)).toBeCloseTo((0.3 * (1 - 0.999 ** 1501)) / 0.001, 9);
  },
);
