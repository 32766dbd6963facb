/** Properties of reversal and of maps, over every SDE and every map. */
import { describe, expect, it } from "vitest";
import { columnsOf } from "../../src/bijector/coefficient.ts";
import {
  catalogue,
  itoTrace,
  type MapEntry,
  pullCovector,
  pullItoTrace,
  pullVector,
  pushVector,
} from "../../src/bijector/index.ts";
import { add, constant, mul, type Shape, sizeOf, type Tensor } from "../../src/graph/index.ts";
import { pushedScore } from "../../src/score/index.ts";
import {
  applyCovariance,
  forward,
  push,
  pushedDrift,
  pushedReverseDrift,
  reverse,
  reverseDrift,
  reverseNoiseShift,
  reversePush,
  type Sde,
} from "../../src/sde/index.ts";
import { at, curvature, draws, field, relativeError, slope, table } from "./table.ts";

const batch = 4;
const times = [0.15, 0.4, 0.65, 0.9];

/** Typical points of an entry's domain. */
function points({ event, from }: MapEntry): readonly [Shape, Float64Array] {
  const shape = [batch, ...event];
  const data = draws("points", shape);
  return [shape, from ? at((x) => from.forward(x), [shape, data]) : data];
}

/** Maps between spaces of the same dimension: the others have no density in y. */
const square = catalogue.filter(({ map, event }) => {
  const y = at(
    (x) => map.forward(x, constant(0.5, "float64")),
    [event, new Float64Array(sizeOf(event)).fill(0.1)],
  );
  return y.length === sizeOf(event);
});

const size = (v: Float64Array): number => v.reduce((most, w) => Math.max(most, Math.abs(w)), 1);

/**
 * drift ↦ ∂ₜφ + J f ± ½ Σₖ ∂²φ/∂Gₖ², all of it by finite differences of φ along f, along the
 * columns of G and along t.
 */
function generator(sde: Sde, entry: MapEntry) {
  const { map, from } = entry;
  const [shape, x] = points(entry);
  const step = from ? 1e-4 : 1e-3; // steps must stay inside the domain of φ where it has a boundary
  const t = [[batch], times] as const;
  const phi = (v: Float64Array, h: number, s: number) =>
    at(
      (z: Tensor, w: Tensor, u: Tensor) => map.forward(add(z, mul(w, h)), add(u, s)),
      [shape, x],
      [shape, v],
      t,
    );
  const columns = at((z, s) => columnsOf(sde.diffusion(z, s), z, sde.eventRank), [shape, x], t);
  const k = columns.length / x.length;
  const curvatures = Array.from({ length: k }, (_, j) =>
    curvature(
      (h) => phi(columns.subarray(j * x.length, (j + 1) * x.length), h, 0),
      (4 * step) / size(columns),
    ),
  );
  const still = slope((h) => phi(x, 0, h), step);
  return (drift: Float64Array, sign: number) => {
    const along = slope((h) => phi(drift, h, 0), step / size(drift));
    const value = along.map(
      (v, i) => v + still[i] + (sign / 2) * curvatures.reduce((sum, c) => sum + c[i], 0),
    );
    return { value, scale: size(value) + size(columns) ** 2 };
  };
}

/** Agreement relative to the drift, or to the noise that causes it where there is none. */
function expectClose(
  found: Float64Array,
  { value, scale }: { value: Float64Array; scale: number },
  name: string,
): void {
  expect(Math.max(...found.map((v, i) => Math.abs(v - value[i]))) / scale, name).toBeLessThan(1e-7);
}

describe("a pushed SDE", () => {
  for (const entry of catalogue)
    it(`has the drift that a finite-difference generator gives (${entry.name})`, () => {
      const [shape, x] = points(entry);
      for (const make of table) {
        const sde = make(entry.map.eventRank);
        const generated = generator(sde, entry);
        const forward = at((z, t) => sde.drift(z, t), [shape, x], [[batch], times]);
        const drift = at((z, t) => pushedDrift(sde, entry.map, z, t), [shape, x], [[batch], times]);
        expectClose(drift, generated(forward, 1), sde.name);
        const score = field(sde.eventRank);
        const back = at((z, t) => reverseDrift(sde, score, z, t), [shape, x], [[batch], times]);
        const reversed = at(
          (z, t) => pushedReverseDrift(sde, entry.map, score, z, t),
          [shape, x],
          [[batch], times],
        );
        expectClose(reversed, generated(back, -1), sde.name);
      }
    });

  for (const entry of square)
    it(`reverses to the image of the reversed one, and so does its probability flow (${entry.name})`, () => {
      const [shape, x] = points(entry);
      for (const make of table) {
        const sde = make(entry.map.eventRank);
        const score = field(sde.eventRank);
        const transformed = reverse(push(sde, entry.map), (y, t) =>
          pushedScore(entry.map, (z, s) => score(z, s as Tensor))(y, t),
        );
        const lemma = reversePush(sde, entry.map, score);
        const y = at((z, t) => entry.map.forward(z, t), [shape, x], [[batch], times]);
        for (const of of ["drift", "velocity"] as const) {
          const one = at((p, t) => transformed[of](p, t), [shape, y], [[batch], times]);
          const two = at((p, t) => lemma[of](p, t), [shape, y], [[batch], times]);
          expect(relativeError(one, two), `${of}, ${sde.name}`).toBeLessThan(1e-9);
        }
      }
    });

  for (const entry of square)
    it(`is driven backwards by the same Wiener process (${entry.name})`, () => {
      const [shape, x] = points(entry);
      for (const make of table) {
        const sde = make(entry.map.eventRank);
        const score = field(sde.eventRank);
        const inY = (y: Tensor, t: Tensor): Tensor =>
          pushedScore(entry.map, (z, s) => score(z, s as Tensor))(y, t);
        const y = at((z, t) => entry.map.forward(z, t), [shape, x], [[batch], times]);
        const inX = at((z, t) => reverseNoiseShift(sde, score, z, t), [shape, x], [[batch], times]);
        const seen = at(
          (p, t) => reverseNoiseShift(push(sde, entry.map), inY, p, t),
          [shape, y],
          [[batch], times],
        );
        expect(relativeError(seen, inX), sde.name).toBeLessThan(1e-9);
      }
    });

  for (const entry of catalogue)
    it(`has an Itô drift that is J⁻¹Tr[GᵀHG] in x, in closed form or not (${entry.name})`, () => {
      const [shape, x] = points(entry);
      for (const make of table) {
        const sde = make(entry.map.eventRank);
        const g = (z: Tensor, t: Tensor) => sde.diffusion(z, t);
        const closed = at(
          (z, t) => pullItoTrace(entry.map, z, g(z, t), t),
          [shape, x],
          [[batch], times],
        );
        const solved = at(
          (z, t) => pullVector(entry.map, z, itoTrace(entry.map, z, g(z, t), t), t),
          [shape, x],
          [[batch], times],
        );
        if (solved.some((v) => v !== 0))
          expect(relativeError(closed, solved), sde.name).toBeLessThan(1e-9);
        else expect(closed.every((v) => v === 0)).toBe(true);
      }
    });

  for (const entry of square)
    it(`spreads noise by J G (${entry.name})`, () => {
      const [shape, x] = points(entry);
      const { map, event } = entry;
      const y = at((z, t) => map.forward(z, t), [shape, x], [[batch], times]);
      for (const make of table) {
        const sde = make(map.eventRank);
        const covector = [shape, draws("covector", shape)] as const;
        const pushed = at(
          (p, t, u) => applyCovariance(push(sde, map).diffusion(p, t), u, event),
          [shape, y],
          [[batch], times],
          covector,
        );
        const direct = at(
          (z, t, u) =>
            pushVector(
              map,
              z,
              applyCovariance(sde.diffusion(z, t), pullCovector(map, z, u, t), event),
              t,
            ),
          [shape, x],
          [[batch], times],
          covector,
        );
        expect(relativeError(pushed, direct), sde.name).toBeLessThan(1e-9);
        const apart = at(
          (p, t, u) => applyCovariance(forward(sde, map).diffusion(p, t), u, event),
          [shape, y],
          [[batch], times],
          covector,
        );
        expect(relativeError(apart, direct), `${sde.name}, not multiplied out`).toBeLessThan(1e-9);
      }
    });
});
