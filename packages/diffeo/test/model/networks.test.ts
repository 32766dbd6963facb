/** What training, files and samplers assume of a network, for every row of the table. */
import { evaluate } from "diffeo/engine";
import {
  constant,
  DiffeoError,
  isNdArray,
  mapTree,
  type NdArray,
  type Shape,
  type Tensor,
} from "diffeo/graph";
import { rowsOf } from "diffeo/host";
import { mapShapes, type NetworkSpec, networkOf, networks } from "diffeo/model";
import { fold, key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";

const image = { channels: 3, outputs: 5, width: 8 };
const row = { channels: 4, width: 8 };

/** A small one of each kind, and the grid that it is given. */
const examples: {
  readonly [K in NetworkSpec["kind"]]: {
    readonly spec: NetworkSpec & { readonly kind: K };
    readonly grid: Shape;
  };
} = {
  unet: {
    spec: {
      kind: "unet",
      ...image,
      multipliers: [1, 2],
      blocks: 1,
      groups: 4,
      attention: [1],
      position: [2, 4],
    },
    grid: [2, 4],
  },
  transformer: {
    spec: { kind: "transformer", ...image, grid: [2, 3], layers: 2, heads: 2 },
    grid: [2, 3],
  },
  exchangeable: {
    spec: {
      kind: "exchangeable",
      channels: 4,
      grid: [2, 3],
      groups: [
        [
          [0, 1, 2],
          [3, 4, 5],
        ],
        [
          [0, 3],
          [1, 4],
        ],
      ],
      width: 8,
      layers: 2,
      rounds: 2,
    },
    grid: [2, 3],
  },
  residual: { spec: { kind: "residual", ...row, outputs: 6, blocks: 2 }, grid: [] },
  columns: {
    spec: {
      kind: "columns",
      ...row,
      sees: [[0], [1, 2], [3]],
      says: [0, 1, 1, 2],
      layers: 1,
      heads: 2,
    },
    grid: [],
  },
  couplings: { spec: { kind: "couplings", ...row, couplings: 2, bins: 4 }, grid: [] },
};

it("every row of the table has an example", () => {
  expect(Object.keys(examples)).toEqual(Object.keys(networks));
});

const random = (name: string, shape: Shape): NdArray =>
  normal(fold(key("networks"), name), shape, { dtype: "float64" });

describe.each(Object.entries(examples))("%s", (_, { spec, grid }) => {
  const { channels, outputs, init, shapes, apply, requireGrid } = networkOf(spec);
  const fresh = init(key(1));
  /** Drawn, so that nothing is zero that is so at first alone. */
  const parameters = mapTree<NdArray, Tensor>(
    fresh,
    ({ shape }, name) => constant(random(name, shape), "float64"),
    isNdArray,
  );
  const x = random("x", [3, ...grid, channels]);
  const t: NdArray = { shape: [3], dtype: "float64", data: Float64Array.of(0.2, 0.5, 0.9) };

  it("has parameters of the stated shapes, determined by the key", () => {
    const made = mapTree<NdArray, Shape>(fresh, ({ shape }) => shape, isNdArray);
    expect(mapShapes(shapes(), (shape) => shape)).toEqual(made);
    expect(init(key(1))).toEqual(fresh);
    expect(init(key(2))).not.toEqual(fresh);
  });

  it("gives every site its numbers, independently per sample", async () => {
    const run = (points: Tensor, times: Tensor): Tensor => apply(parameters, points, times);
    const all = await evaluate(run, x, t);
    expect(all.shape).toEqual([3, ...grid, outputs]);
    const last = await evaluate(run, rowsOf(x, 2, 1), rowsOf(t, 2, 1));
    const own = rowsOf(all, 2, 1).data as Float64Array;
    own.forEach((v, i) => {
      expect(Math.abs(v - Number(last.data[i]))).toBeLessThan(1e-11);
    });
  });

  it("refuses an unsupported grid and unknown options", () => {
    expect(requireGrid(grid)).toBeUndefined();
    expect(() => requireGrid([5, 5, 5])).toThrow(DiffeoError);
    expect(() => networkOf({ ...spec, ...{ whatever: 1 } })).toThrow(/whatever/);
  });
});
