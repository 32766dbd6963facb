import {
  constant,
  input,
  isNdArray,
  mapTree,
  type NdArray,
  reference,
  type Tensor,
} from "diffeo/graph";
import {
  type CouplingFlow,
  type CouplingFlowOptions,
  couplingFlow,
  couplingsFor,
  networkOf,
} from "diffeo/model";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";

/** A flow whose last layers have weight, so that it is not the identity. */
function flowOf(options: CouplingFlowOptions, seed: number): CouplingFlow<Tensor> {
  const fresh = networkOf({ kind: "couplings", ...options }).init(key(seed));
  return mapTree<NdArray, Tensor>(
    fresh,
    (array, name) =>
      constant(
        name.includes("last")
          ? { ...array, data: normal(key(name), array.shape).data.map((v) => 0.15 * v) }
          : array,
      ),
    isNdArray,
  ) as unknown as CouplingFlow<Tensor>;
}

/** By elimination. */
function determinant(rows: readonly (readonly number[])[]): number {
  const a = rows.map((row) => [...row]);
  let found = 1;
  for (let k = 0; k < a.length; k++) {
    const pivot = a
      .slice(k)
      .reduce((best, row, i) => (Math.abs(row[k]) > Math.abs(a[best][k]) ? k + i : best), k);
    if (pivot !== k) [a[k], a[pivot], found] = [a[pivot], a[k], -found];
    found *= a[k][k];
    for (let i = k + 1; i < a.length; i++) {
      const factor = a[i][k] / a[k][k];
      for (let j = k; j < a.length; j++) a[i][j] -= factor * a[k][j];
    }
  }
  return found;
}

const affine = { channels: 3, couplings: 4, width: 8 } as const;
const spline = { channels: 5, couplings: couplingsFor(5), width: 8, bins: 4 } as const;
const some = { channels: 4, moved: [3, 0, 2], couplings: 4, width: 8, bins: 3 } as const;

describe("a coupling flow", () => {
  it.each([
    ["affine", affine],
    ["splines", spline],
    ["of some coordinates", some],
  ])(
    "goes back to where it came from, and its log-determinant is that of differences: %s",
    (_, options) => {
      const n = options.channels;
      const phi = couplingFlow(flowOf(options, 1), options);
      const count = 12;
      // Within the splines, at their ends and far beyond them.
      const x = normal(key(4), [count, n], { dtype: "float64" }).data.map(
        (v, i) => v * [1, 3, 20][i % 3],
      );
      const at = input("x", [count, n], "float64");
      const run = (f: Tensor, p: Float64Array): Float64Array =>
        reference([f], new Map([[at, p]]))[0];
      const y = run(phi.forward(at), x);
      run(phi.inverse(at), y).forEach((v, i) => {
        expect(Math.abs(v - x[i])).toBeLessThan(1e-9 * (1 + Math.abs(x[i])));
      });
      const h = 1e-5;
      const columns = Array.from({ length: n }, (_, j) => {
        const moved = (by: number) =>
          run(
            phi.forward(at),
            x.map((v, i) => (i % n === j ? v + by : v)),
          );
        const [up, down] = [moved(h), moved(-h)];
        return up.map((v, i) => (v - down[i]) / (2 * h));
      });
      const logDet = run(phi.logDet(at), x);
      for (let row = 0; row < count; row++) {
        const jacobian = Array.from({ length: n }, (_, i) =>
          columns.map((column) => column[row * n + i]),
        );
        expect(logDet[row]).toBeCloseTo(Math.log(Math.abs(determinant(jacobian))), 5);
      }
    },
  );

  it("is the identity at first, and always on unselected coordinates", () => {
    const x = normal(key(2), [7, 4], { dtype: "float64" });
    const at = input("x", [7, 4], "float64");
    const forward = (p: CouplingFlow<Tensor>): Float64Array =>
      reference([couplingFlow(p, some).forward(at)], new Map([[at, x.data]]))[0];
    const fresh = mapTree<NdArray, Tensor>(
      networkOf({ kind: "couplings", ...some }).init(key(1)),
      (a) => constant(a),
      isNdArray,
    ) as unknown as CouplingFlow<Tensor>;
    forward(fresh).forEach((v, i) => {
      expect(v).toBeCloseTo(x.data[i], 12);
    });
    const moved = forward(flowOf(some, 1));
    for (let i = 0; i < moved.length; i++)
      if (i % 4 === 1) expect(moved[i]).toBe(x.data[i]);
      else expect(Math.abs(moved[i] - x.data[i])).toBeGreaterThan(1e-4);
  });

  it("lets every coordinate depend on every other", () => {
    const n = 6;
    const options = { channels: n, couplings: couplingsFor(n), width: 8 };
    const phi = couplingFlow(flowOf(options, 3), options);
    const x = Float64Array.from({ length: n }, (_, i) => 0.3 * i - 0.7);
    const at = input("x", [n], "float64");
    const value = (p: Float64Array): Float64Array =>
      reference([phi.forward(at)], new Map([[at, p]]))[0];
    for (let j = 0; j < n; j++) {
      const [up, down] = [x.slice(), x.slice()];
      up[j] += 1e-5;
      down[j] -= 1e-5;
      const [a, b] = [value(up), value(down)];
      for (let i = 0; i < n; i++)
        expect(Math.abs(a[i] - b[i]) / 2e-5, `${i} by ${j}`).toBeGreaterThan(1e-6);
    }
  });

  it("keeps in coupling k the coordinates whose bit ⌊k/2⌋ is k mod 2, so that one coupling separates any two", () => {
    const options = {
      kind: "couplings",
      channels: 6,
      couplings: couplingsFor(6),
      width: 8,
    } as const;
    const { couplings } = networkOf(options).init(key(1)) as unknown as CouplingFlow<NdArray>;
    expect(couplings.map(({ first }) => first.w.shape[0])).toEqual([3, 3, 4, 2, 4, 2]);
  });

  it("stretches by e² at most", () => {
    const options = { channels: 2, couplings: 1, width: 4 };
    const flow = mapTree<NdArray, Tensor>(
      networkOf({ kind: "couplings", ...options }).init(key(1)),
      (a, name) =>
        constant(
          name.includes("last") && name.endsWith("b") ? { ...a, data: Float32Array.of(1e3, 0) } : a,
        ),
      isNdArray,
    ) as unknown as CouplingFlow<Tensor>;
    const at = input("x", [2], "float64");
    const [y] = reference(
      [couplingFlow(flow, options).forward(at)],
      new Map([[at, Float64Array.of(0.3, 0.7)]]),
    );
    expect(y[0]).toBe(0.3);
    expect(y[1]).toBeCloseTo(Math.exp(2) * 0.7, 13);
  });

  it("refuses invalid numbers of coordinates", () => {
    for (const moved of [[1], [0, 0], [0, 9]])
      expect(() => networkOf({ kind: "couplings", ...some, moved }).init(key(1))).toThrow(
        "coupling flow: `moved` is",
      );
  });
});
