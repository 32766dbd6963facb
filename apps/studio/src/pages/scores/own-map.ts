/**
 * A typed map y = φ(x) of the plane. Autodiff gives its Jacobian, and log|det J| = log|ad − bc|.
 * If the inverse is not typed too, Newton's method on numbers finds it:
 *
 *   x ← x − J(x)⁻¹(φ(x) − y)
 *
 * A step in the graph, from a point that is already exact, gives φ⁻¹ its first derivative. A second
 * step gives the second and third, because the error of each step is the square of the last error.
 */
import { type Bijector, bijector } from "diffeo/bijector";
import {
  abs,
  at,
  div,
  jvp,
  log,
  mul,
  neg,
  onesLike,
  outside,
  stack,
  stopGradient,
  sub,
  sum,
  type Tensor,
  zerosLike,
} from "diffeo/graph";
import type { Expression } from "./expression.ts";

type Pair = readonly [Expression, Expression];

const applied =
  ([first, second]: Pair, names: readonly [string, string]) =>
  (p: Tensor): Tensor => {
    const given = { [names[0]]: at(p, 0, -1), [names[1]]: at(p, 1, -1) };
    return stack([first.build(given), second.build(given)], -1);
  };

/** The entries a, b, c, d of J = (a b; c d), each of the batch shape. */
function jacobian(f: (p: Tensor) => Tensor, p: Tensor): readonly [Tensor, Tensor, Tensor, Tensor] {
  const ones = onesLike(at(p, 0, -1));
  const zeros = zerosLike(ones);
  const [, along1] = jvp(f, p, stack([ones, zeros], -1));
  const [, along2] = jvp(f, p, stack([zeros, ones], -1));
  return [at(along1, 0, -1), at(along2, 0, -1), at(along1, 1, -1), at(along2, 1, -1)];
}

/** One step of Newton's method towards φ(x) = y. */
function newton(f: (p: Tensor) => Tensor, x: Tensor, y: Tensor): Tensor {
  const gap = sub(f(x), y);
  const [g1, g2] = [at(gap, 0, -1), at(gap, 1, -1)];
  const [a, b, c, d] = jacobian(f, x);
  const det = sub(mul(a, d), mul(b, c));
  const solved = [sub(mul(d, g1), mul(b, g2)), sub(mul(a, g2), mul(c, g1))].map((part) =>
    div(part, det),
  );
  return sub(x, stack(solved, -1));
}

/** Starting points: rings around 0. */
const STARTS: readonly Point[] = [0, 0.5, 1.5, 3].flatMap((r) =>
  Array.from(
    { length: r === 0 ? 1 : 8 },
    (_, k): Point => [r * Math.cos((k * Math.PI) / 4), r * Math.sin((k * Math.PI) / 4)],
  ),
);

type Point = readonly [number, number];
/** The step of the central differences in Newton's method on numbers. */
const H = 1e-6;

/**
 * Newton's method from one start, with steps halved until the error falls; undefined if it fails.
 */
function descend(
  phi: (x1: number, x2: number) => Point,
  [y1, y2]: Point,
  start: Point,
): Point | undefined {
  const scale = 1 + Math.abs(y1) + Math.abs(y2);
  let [x1, x2] = start;
  let [p, q] = phi(x1, x2);
  let left = Math.hypot(p - y1, q - y2);
  for (let k = 0; k < 60 && left > 1e-14 * scale; k++) {
    const [right, back] = [phi(x1 + H, x2), phi(x1 - H, x2)];
    const [above, below] = [phi(x1, x2 + H), phi(x1, x2 - H)];
    const [a, c] = [right[0] - back[0], right[1] - back[1]].map((v) => v / (2 * H));
    const [b, d] = [above[0] - below[0], above[1] - below[1]].map((v) => v / (2 * H));
    const det = a * d - b * c;
    const [s1, s2] = [(d * (p - y1) - b * (q - y2)) / det, (a * (q - y2) - c * (p - y1)) / det];
    let share = 1;
    for (; share > 1e-5; share /= 2) {
      const [nextP, nextQ] = phi(x1 - share * s1, x2 - share * s2);
      const next = Math.hypot(nextP - y1, nextQ - y2);
      if (!(next < left)) continue;
      [x1, x2, p, q, left] = [x1 - share * s1, x2 - share * s2, nextP, nextQ, next];
      break;
    }
    if (share <= 1e-5) break;
  }
  return left < 1e-9 * scale ? [x1, x2] : undefined;
}

/**
 * φ⁻¹(y) on numbers: starts at the last result, which is a neighbour on a lattice, then at the
 * starts with the nearest images. Undefined if no start leads to a solution.
 */
export function numericInverse([first, second]: Pair): (
  y1: number,
  y2: number,
) => Point | undefined {
  const phi = (x1: number, x2: number): Point => [
    first.value({ x1, x2 }),
    second.value({ x1, x2 }),
  ];
  const images = STARTS.map(([a, b]) => phi(a, b));
  let last: Point = [0, 0];
  return (y1, y2) => {
    const near = descend(phi, [y1, y2], last);
    if (near) {
      last = near;
      return near;
    }
    const miss = (k: number): number => Math.hypot(images[k][0] - y1, images[k][1] - y2);
    const order = [...STARTS.keys()]
      .filter((k) => Number.isFinite(miss(k)))
      .sort((k, l) => miss(k) - miss(l));
    for (const k of order.slice(0, 3)) {
      const found = descend(phi, [y1, y2], STARTS[k]);
      if (!found) continue;
      last = found;
      return found;
    }
    return undefined;
  };
}

/** A typed map, with a typed inverse or one that Newton's method finds. */
export function ownMap(forward: Pair, inverse: Pair | undefined): Bijector {
  const phi = applied(forward, ["x1", "x2"]);
  const back = inverse ? applied(inverse, ["y1", "y2"]) : found(forward, phi);
  return bijector({
    name: "your map",
    forward: phi,
    inverse: back,
    logDet: (x) => {
      const [a, b, c, d] = jacobian(phi, x);
      return log(abs(sub(mul(a, d), mul(b, c))));
    },
  });
}

function found(forward: Pair, phi: (p: Tensor) => Tensor): (y: Tensor) => Tensor {
  const solve = numericInverse(forward);
  const start = outside({
    name: "the inverse of your map",
    open: async () => ({
      run: async ([y]) => {
        const data = y.data.slice() as Float64Array;
        for (let i = 0; i < data.length; i += 2)
          data.set(solve(data[i], data[i + 1]) ?? [Number.NaN, Number.NaN], i);
        return { ...y, data };
      },
      dispose: async () => undefined,
    }),
  });
  return (y) => {
    const first = stopGradient(start(stopGradient(y), stopGradient(sum(neg(y), -1))));
    return newton(phi, newton(phi, first, y), y);
  };
}
