/** From functions on tensors to functions on arrays: structure, shapes, freeing, and what bad input is told. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import {
  add,
  compile,
  DiffeoError,
  devices,
  div,
  type ErrorKind,
  evaluate,
  exp,
  log,
  matmul,
  mul,
  ndarray,
  softmax,
  sub,
  sum,
  type Tensor,
} from "../../src/index.ts";

const identity = (x: Tensor): Tensor => mul(x, 1.5);

/** The error of a call, which must be one of ours with cause and remedy. */
async function refusal(call: () => Promise<unknown>): Promise<{ readonly kind: ErrorKind; readonly message: string }> {
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
      (p: { w: Tensor; layers: readonly [Tensor, Tensor] }) => ({ total: add(p.w, p.layers[0]), rest: [p.layers[1]] }),
      [{ w: [2], layers: [[2], { shape: [1], dtype: "int32" }] }],
    );
    const y = await f({ w: [1, 2], layers: [[10, 20], [7]] });
    expect(y.total.data).toEqual(Float32Array.of(11, 22));
    expect(y.rest[0]).toEqual({ shape: [1], dtype: "int32", data: Int32Array.of(7) });
    await f.dispose();
  });

  it("traces once a shape", async () => {
    let traces = 0;
    const f = compile(
      (x: Tensor) => {
        traces++;
        return softmax(x);
      },
      [[null, 3]],
    );
    for (const n of [1, 2, 1, 2, 2]) expect((await f(new Float32Array(3 * n))).shape).toEqual([n, 3]);
    expect(traces).toBe(2);
    await f.dispose();
  });

  it("returns inputs and constants that a function passes through, as arrays of their own", async () => {
    for (const device of ["cpu", "reference"]) {
      const f = compile((x: Tensor) => [x, x, sum(x)], [[2]], { device, type: "float64" });
      const x = Float64Array.of(1, 2);
      const [a, b] = await f(x);
      (a.data as Float64Array)[0] = 99;
      expect([...(b.data as Float64Array)]).toEqual([1, 2]);
      expect([...x]).toEqual([1, 2]);
      await f.dispose();
    }
  });

  it("gives every type back as it is", async () => {
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

  it.each([false, true])("holds no results of earlier calls (worker: %s)", async (worker) => {
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
  });
});

describe("evaluate", () => {
  it("computes once, in float64", async () => {
    expect(await evaluate((x: Tensor, y: Tensor) => div(x, sub(x, y)), [1, 2], 4)).toEqual({
      shape: [2],
      dtype: "float64",
      data: Float64Array.of(-1 / 3, -1),
    });
    expect((await evaluate((x: Tensor) => sum(x), Float32Array.of(1, 2, 3))).data).toEqual(Float64Array.of(6));
  });
});

describe("devices", () => {
  it("are listed by name", async () => {
    expect((await devices()).map((d) => d.name)).toEqual(["cpu", "webgpu", "cuda", "reference"]);
  });

  it("that do not exist are refused with the list of those that do", async () => {
    const { kind, message } = await refusal(() => compile(identity, [[1]], { device: "tpu" })([1]));
    expect(kind).toBe("device");
    expect(message).toMatch(/no device "tpu".*cpu, webgpu, cuda, reference/);
  });

  it("that this machine lacks are refused with the way to get them", async () => {
    const { kind, message } = await refusal(() => compile(identity, [[1]], { device: "cuda" })([1]));
    expect(kind).toBe("device");
    expect(message).toMatch(/"cuda" did not start.*npm install.*cuda/s);
  });

  it("without float64 refuse a graph in float64", async () => {
    const { kind, message } = await refusal(() => compile(identity, [[1]], { device: "webgpu", type: "float64" })([1]));
    expect(kind).toBe("type");
    expect(message).toMatch(/does not compute in float64/);
  });

  it("refuse a worker where there is none to give", async () => {
    const { kind } = await refusal(() => compile(identity, [[1]], { device: "reference", worker: true })([1]));
    expect(kind).toBe("usage");
  });
});

describe("bad input", () => {
  const f = compile((x: Tensor, p: { w: Tensor }) => matmul(x, p.w), [[null, 3], { w: [3, 2] }]);
  const w = new Float32Array(6);
  const anything = f as unknown as (...args: unknown[]) => Promise<unknown>;
  const rows = [[1, 2, 3]];

  it.each<[string, ErrorKind, RegExp, unknown[]]>([
    ["a shape that does not fit", "shape", /argument 0: shape \[1, 2\] given, \[any, 3\] expected/, [[[1, 2]], { w }]],
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
      /argument 1\.w: a Float64Array given to a float32 graph.*Float32Array/,
      [rows, { w: new Float64Array(6) }],
    ],
    ["a string", "type", /argument 0: string given where an array belongs/, ["1 2 3", { w }]],
    ["nothing", "type", /argument 1\.w: nothing given/, [rows, {}]],
    ["an array where a group belongs", "type", /argument 1: number given where a group of arrays belongs/, [rows, 1]],
    ["too few arguments", "usage", /1 arguments given, 2 expected/, [rows]],
  ])("%s is refused", async (_, kind, message, args) => {
    const error = await refusal(() => anything(...args));
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(message);
  });

  it("in the function itself is refused by the operation that meets it, and the next call may be right", async () => {
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

  it("a result that is no tensor is refused", async () => {
    const { kind, message } = await refusal(() => compile(() => 3 as unknown as Tensor, [])());
    expect(kind).toBe("type");
    expect(message).toMatch(/returned something that is no tensor/);
  });
});

describe("checkFinite", () => {
  const bad = (x: Tensor): Tensor => add(div(x, sub(x, 1)), exp(log(sub(x, 2))));

  it.each(["cpu", "reference"])("names the first operation that made a NaN or infinity on %s", async (device) => {
    const f = compile(bad, [[3]], { device, type: "float64", checkFinite: true });
    expect((await f([3, 4, 5])).data).toHaveLength(3);
    const quotient = await refusal(() => f([3, 1, 4]));
    expect(quotient.kind).toBe("numerical");
    expect(quotient.message).toMatch(
      /^div made the first value that is not finite: Infinity at flat position 1 of shape \[3\]/,
    );
    const logarithm = await refusal(() => f([3, 4, 1.5]));
    expect(logarithm.message).toMatch(/^log made the first value that is not finite: NaN at flat position 2/);
    await f.dispose();
  });

  it("names an input that is not finite", async () => {
    const f = compile(identity, [[2]], { checkFinite: true });
    expect((await refusal(() => f([1, Number.NaN]))).message).toMatch(/input x0 holds NaN at flat position 1/);
    await f.dispose();
  });

  it("is off unless asked for", async () => {
    const f = compile(log, [[1]], { type: "float64" });
    expect((await f([-1])).data).toEqual(Float64Array.of(Number.NaN));
    await f.dispose();
  });
});

describe("dispose", () => {
  it("lets calls under way finish, refuses later ones, and may be called twice", async () => {
    const f = compile(identity, [[1]]);
    await f([1]);
    const running = f([2]);
    const done = f.dispose();
    const late = refusal(() => f([3]));
    expect((await running).data).toEqual(Float32Array.of(3));
    await Promise.all([done, f.dispose()]);
    expect(await late).toMatchObject({ kind: "disposed", message: expect.stringMatching(/Compile it again/) });
  });

  it("of a function whose graph was refused is quiet", async () => {
    const f = compile((x: Tensor) => matmul(x, x), [[2, 3]]);
    await refusal(() => f(new Float32Array(6)));
    await f.dispose();
  });
});
