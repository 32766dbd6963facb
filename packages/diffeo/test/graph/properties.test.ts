import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  input,
  isFloat,
  leavesOf,
  lower,
  reference,
  simplify,
  type Tensor,
  toFloat64,
  trace,
} from "../../src/graph/index.ts";
import { differentiate, inner, largest } from "./differences.ts";
import { type Draw, effort } from "./draw.ts";
import { probe } from "./probe.ts";
import { discrete, smooth } from "./table.ts";

const RUNS = effort(28);

/** The probe's graph; `at(t)` gives its inputs with the arguments moved by t·v. */
function bind(draw: Draw) {
  const { graph, arrays, u, v } = probe(draw);
  const { inputs, result } = trace(graph, arrays, "float64");
  const given = arrays.map((a) => toFloat64(a.data));
  const directions = v.map((d) => toFloat64(d.data));
  const floats = draw.args.flatMap((a, i) => (isFloat(a.dtype) ? [i] : []));
  const at = (t: number): Map<Tensor, Float64Array> =>
    new Map(
      inputs.map((n, i) => {
        const k = floats.indexOf(i);
        return [n, k < 0 ? given[i] : given[i].map((x, j) => x + t * directions[k][j])];
      }),
    );
  return { ...result, at, u: toFloat64(u.data), v: directions };
}

const kindOf = ({ shape, dtype }: Tensor) => [shape, dtype];

describe.each(smooth)("$name", ({ draws, elementwise, runs }) => {
  it("has the first and second derivatives of differences", () => {
    fc.assert(
      fc.property(draws, (draw) => {
        const { value, along, gradient, second, at } = bind(draw);
        const exact = reference([along, ...second], at(0));
        const differences = differentiate((t) => reference([value, ...gradient], at(t)));
        const whole = largest(differences.map(({ size }) => largest(size)));
        differences.forEach(({ derivative, size }, k) => {
          derivative.forEach((d, j) => {
            // 1e-6 of the derivative itself; below 1e-10·|f| the differences show only rounding.
            const floor = 1e-10 * (elementwise ? size[j] : whole);
            if (!(Math.abs(d - exact[k][j]) <= 1e-6 * Math.abs(exact[k][j]) + floor))
              expect.fail(
                `${k === 0 ? "first" : "second"} derivative ${j}: ${exact[k][j]}, by differences ${d}`,
              );
          });
        });
      }),
      { numRuns: Math.min(runs, RUNS) },
    );
  });

  it("has ⟨u, Jv⟩ = ⟨Jᵀu, v⟩", () => {
    fc.assert(
      fc.property(draws, (draw) => {
        const { value, along, gradient, at, u, v } = bind(draw);
        const [y, jv, ...jtu] = reference([value, along, ...gradient], at(0));
        const right = jtu.reduce((s, g, i) => s + inner(g, v[i]), 0);
        const scale = [y, jv, ...jtu].reduce((s, part) => s + part.length * largest(part), 0);
        expect(Math.abs(inner(u, jv) - right)).toBeLessThanOrEqual(1e-14 * scale);
      }),
      { numRuns: Math.min(runs, RUNS) },
    );
  });

  it("keeps its value and derivatives when simplified and lowered", () => {
    fc.assert(
      fc.property(draws, (draw) => {
        const { at, u: _, v: __, ...tree } = bind(draw);
        const outputs = leavesOf(tree);
        const kinds = outputs.map(kindOf);
        const plain = reference(outputs, at(0));
        const whole = largest(plain.map(largest));
        const same = (rewritten: readonly Tensor[], tolerance: number): void => {
          expect(rewritten.map(kindOf)).toEqual(kinds);
          reference(rewritten, at(0)).forEach((r, k) => {
            r.forEach((y, j) => {
              if (!(Math.abs(y - plain[k][j]) <= tolerance * whole))
                expect.fail(`output ${k}, entry ${j}: ${y} instead of ${plain[k][j]}`);
            });
          });
        };
        same(simplify(outputs), 1e-14);
        same(lower(outputs, "cpu"), 1e-12);
        same(lower(outputs, "gpu"), 1e-6); // some forms for the GPU are made for float32
      }),
      { numRuns: Math.min(runs, RUNS / 2) },
    );
  });
});

describe.each(discrete)("$name", ({ draws, runs }) => {
  it("keeps its value when simplified and lowered", () => {
    fc.assert(
      fc.property(draws, ({ f, args }) => {
        const x = args.map((a, i) => input(`x${i}`, a.shape, a.dtype));
        const values = new Map(x.map((t, i) => [t, toFloat64(args[i].data)]));
        const y = f(...x);
        for (const rewritten of [simplify([y]), lower([y], "cpu"), lower([y], "gpu")])
          expect(reference(rewritten, values)).toEqual(reference([y], values));
      }),
      { numRuns: Math.min(runs, RUNS / 2) },
    );
  });
});
