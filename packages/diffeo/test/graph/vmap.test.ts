import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  add,
  constant,
  convert,
  exp,
  grad,
  input,
  isFloat,
  leavesOf,
  matvec,
  mul,
  type NdArray,
  outside,
  reference,
  sizeOf,
  squaredNorm,
  sum,
  type Tensor,
  toFloat64,
  topological,
  vjp,
  vmap,
} from "../../src/graph/index.ts";
import { largest } from "./differences.ts";
import { type Draw, effort } from "./draw.ts";
import { probe } from "./probe.ts";
import { discrete, smooth } from "./table.ts";

const RUNS = effort(6);
const COUNT = 3;

/** Arrays of one shape along a new first axis. */
function stacked(parts: readonly NdArray[]): NdArray {
  const [{ shape, dtype }] = parts;
  const data = new Float64Array(parts.length * sizeOf(shape));
  parts.forEach((part, k) => {
    data.set(toFloat64(part.data), k * sizeOf(shape));
  });
  return { shape: [parts.length, ...shape], dtype, data: convert(data, dtype) };
}

const valuesOf = (
  outputs: readonly Tensor[],
  inputs: readonly Tensor[],
  arrays: readonly NdArray[],
) => reference(outputs, new Map(inputs.map((t, i) => [t, toFloat64(arrays[i].data)])));

const inputsOf = (arrays: readonly NdArray[]): Tensor[] =>
  arrays.map((a, i) => input(`x${i}`, a.shape, a.dtype));

/** Some arguments are batches: at least one. */
const masks = fc.integer({ min: 1, max: 255 });
const maskOf = (bits: number, length: number): boolean[] => {
  const mask = Array.from({ length }, (_, i) => ((bits >> i) & 1) === 1);
  return mask.includes(true) ? mask : mask.map(() => true);
};

/** A function on a batch, and on its entries one by one. */
function both(
  f: (...x: Tensor[]) => unknown,
  sets: readonly (readonly NdArray[])[],
  mask: readonly boolean[],
) {
  const arrays = sets[0].map((a, i) => (mask[i] ? stacked(sets.map((set) => set[i])) : a));
  const inputs = inputsOf(arrays);
  const batch = leavesOf(
    vmap(
      f,
      mask.map((m) => (m ? 0 : null)),
    )(...inputs),
  );
  const single = inputsOf(sets[0]);
  const one = leavesOf(f(...single));
  return {
    shapes: batch.map(({ shape }) => shape),
    single: one.map(({ shape }) => shape),
    batch: valuesOf(batch, inputs, arrays),
    entries: sets.map((set) =>
      valuesOf(
        one,
        single,
        set.map((a, i) => (mask[i] ? a : sets[0][i])),
      ),
    ),
  };
}

function expectEqual(found: ReturnType<typeof both>, tolerance: number): void {
  expect(found.shapes).toEqual(found.single.map((shape) => [COUNT, ...shape]));
  const scale = largest(found.entries.flat().map(largest));
  found.batch.forEach((values, k) => {
    const size = values.length / COUNT;
    values.forEach((v, j) => {
      const one = found.entries[Math.floor(j / size)][k][j % size];
      if (!(Object.is(v, one) || Math.abs(v - one) <= tolerance * scale))
        expect.fail(`output ${k}, entry ${j}: ${v} in a batch, ${one} alone`);
    });
  });
}

const sets = (draw: Draw): (readonly NdArray[])[] => [draw.args, draw.others(1), draw.others(2)];

describe.each(smooth)("$name", ({ draws, runs }) => {
  it("has the same values and derivatives in a batch as for a single entry", () => {
    fc.assert(
      fc.property(draws, masks, (draw, bits) => {
        const { graph, arrays, u, v } = probe(draw);
        const all = sets(draw).map((args) => [...args, u, ...v]);
        expectEqual(both(graph, all, maskOf(bits, arrays.length)), 1e-13);
      }),
      { numRuns: Math.min(runs, RUNS) },
    );
  });

  it("has a derivative of the batch that consists of those of its entries", () => {
    fc.assert(
      fc.property(draws, masks, (draw, bits) => {
        const { f, args } = draw;
        const mask = maskOf(bits, args.length);
        const axes = mask.map((m) => (m ? 0 : null));
        const given = sets(draw);
        const arrays = args.map((a, i) => (mask[i] ? stacked(given.map((set) => set[i])) : a));
        const inputs = inputsOf(arrays);
        const floats = inputs.filter((t) => isFloat(t.dtype));
        const weights = (y: Tensor): Tensor =>
          constant(
            {
              shape: y.shape,
              dtype: y.dtype,
              data: convert(
                Float64Array.from({ length: sizeOf(y.shape) }, (_, i) => Math.cos(i)),
                y.dtype,
              ),
            },
            y.dtype,
          );
        const [y, pull] = vjp(
          (some: readonly Tensor[]) =>
            vmap(f, axes)(...inputs.map((t) => (isFloat(t.dtype) ? some[floats.indexOf(t)] : t))),
          floats as readonly Tensor[],
        );
        const whole = valuesOf(pull(weights(y)), inputs, arrays);
        const single = inputsOf(args);
        const own = single.filter((t) => isFloat(t.dtype));
        const parts = given.map((set, k) => {
          const [z, back] = vjp(
            (some: readonly Tensor[]) =>
              f(...single.map((t) => (isFloat(t.dtype) ? some[own.indexOf(t)] : t))),
            own as readonly Tensor[],
          );
          const size = sizeOf(z.shape);
          const cotangent = constant(
            {
              shape: z.shape,
              dtype: z.dtype,
              data: convert(
                Float64Array.from({ length: size }, (_, i) => Math.cos(k * size + i)),
                z.dtype,
              ),
            },
            z.dtype,
          );
          return valuesOf(
            back(cotangent),
            single,
            set.map((a, i) => (mask[i] ? a : args[i])),
          );
        });
        const scale = largest(parts.flat().map(largest));
        const mapped = mask.filter((_, i) => isFloat(args[i].dtype));
        whole.forEach((values, a) => {
          values.forEach((value, j) => {
            const size = values.length / COUNT;
            const expected = mapped[a]
              ? parts[Math.floor(j / size)][a][j % size]
              : parts.reduce((total, part) => total + part[a][j], 0);
            if (!(Math.abs(value - expected) <= 1e-12 * scale))
              expect.fail(`argument ${a}, entry ${j}: ${value}, of the entries ${expected}`);
          });
        });
      }),
      { numRuns: Math.min(runs, RUNS) },
    );
  });
});

describe.each(discrete)("$name", ({ draws, runs }) => {
  it("has the same values in a batch as for a single entry", () => {
    fc.assert(
      fc.property(draws, masks, (draw, bits) =>
        expectEqual(both(draw.f, sets(draw), maskOf(bits, draw.args.length)), 0),
      ),
      { numRuns: Math.min(runs, RUNS) },
    );
  });
});

describe("vmap", () => {
  it("does not change results that do not depend on the batch", () => {
    const [a, x, y] = [input("a", [4, 3]), input("x", [5, 3]), input("y", [4])];
    const expensive = exp(y);
    const out = vmap((v: Tensor) => add(matvec(a, v), mul(expensive, sum(expensive))))(x);
    expect(out.shape).toEqual([5, 4]);
    const nodes = topological([out]);
    expect(nodes).toContain(expensive);
    expect(nodes.filter(({ op }) => op.name === "exp").length).toBe(1);
    expect(nodes.filter(({ op }) => op.name === "matmul").map(({ shape }) => shape)).toEqual([
      [5, 4],
    ]);
  });

  it("nests, and repeats a result that does not depend on its argument", () => {
    const [x, y] = [input("x", [2, 3], "float64"), input("y", [4, 3], "float64")];
    const table = vmap((a: Tensor) => vmap((b: Tensor) => squaredNorm(add(a, b)))(y))(x);
    expect(table.shape).toEqual([2, 4]);
    const same = vmap((_: Tensor) => sum(y))(x);
    const given = new Map(
      [x, y].map((t) => [t, Float64Array.from({ length: sizeOf(t.shape) }, (_, i) => i)]),
    );
    const [values, repeated] = reference([table, same], given);
    expect(values[1 * 4 + 2]).toBe((3 + 6) ** 2 + (4 + 7) ** 2 + (5 + 8) ** 2);
    expect(Array.from(repeated)).toEqual([66, 66]);
  });

  it("takes gradients of each entry", () => {
    const x = input("x", [3], "float64");
    const slopes = vmap(grad((v: Tensor) => mul(v, mul(v, v))))(x);
    expect(Array.from(reference([slopes], new Map([[x, Float64Array.of(1, 2, 3)]]))[0])).toEqual([
      3, 12, 27,
    ]);
  });

  it("passes the batch to a field outside of the graph", () => {
    const field = outside({ name: "field", open: () => Promise.reject(new Error("not opened")) });
    const x = input("x", [2, 5, 3]);
    const y = vmap((v: Tensor) => field(v, constant([0, 0, 0, 0, 0])))(x);
    expect([y.shape, y.inputs.map(({ shape }) => shape)]).toEqual([
      [2, 5, 3],
      [
        [2, 5, 3],
        [2, 5],
      ],
    ]);
  });

  it("names arguments that do not fit", () => {
    const [x, y] = [input("x", [2, 3]), input("y", [4])];
    expect(() => vmap(add)(x, y)).toThrow("vmap: the batches have shapes [2, 3] and [4]");
    expect(() => vmap(add, [null, null])(x, y)).toThrow("no argument is a batch");
    expect(() => vmap(sum)(3 as never)).toThrow("vmap: argument 1 is");
  });
});
