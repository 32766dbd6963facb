/**
 * Muon for matrices (K. Jordan et al., 2024): a step in the direction of the orthogonal matrix
 * closest to the momentum, so that all singular directions of a matrix move equally far.
 *
 *   m ← β m + (1 − β) g,   u = (1 − β) g + β m
 *   θ ← (1 − η λ) θ − η √max(1, columns/rows) · orthogonal(u)
 *
 * orthogonal(u) = U Vᵀ for u = U S Vᵀ, by five Newton–Schulz steps x ← a x + (b A + c A²) x with A
 * = x xᵀ. The coefficients increase small singular values quickly, and all end between about .7 and
 * 1.2.
 */
import {
  add,
  concat,
  div,
  matmul,
  mul,
  reshape,
  type Shape,
  sizeOf,
  slice,
  sqrt,
  square,
  sub,
  sum,
  type Tensor,
  transpose,
} from "../graph/index.ts";
import type { AdamState } from "./adam.ts";

/** β, the decay of the momentum. */
const MOMENTUM = 0.95;
/** λ, the decoupled weight decay per unit of the rate. */
const DECAY = 0.05;
const [A, B, C] = [3.4445, -4.775, 2.0315];
const ITERATIONS = 5;
/** Matrices with a shorter side, such as those of inputs or heads, use Adam. */
const LEAST_SIDE = 8;

/** U Vᵀ of each matrix u = U S Vᵀ of a stack [n, rows, columns], approximately. */
export function orthogonal(u: Tensor): Tensor {
  const [, rows, columns] = u.shape;
  if (rows > columns) return transpose(orthogonal(transpose(u)));
  const norm = sqrt(sum(square(u), [1, 2], { keepDims: true }));
  let x = div(u, add(norm, 1e-7));
  for (let i = 0; i < ITERATIONS; i++) {
    const gram = matmul(x, transpose(x));
    const polynomial = add(mul(gram, B), mul(matmul(gram, gram), C));
    x = add(mul(x, A), matmul(polynomial, x));
  }
  return x;
}

/** An array in a flat vector. */
interface Place {
  readonly from: number;
  readonly to: number;
  readonly shape: Shape;
}

/** The arrays of a flat vector in order, and those that Muon moves; Adam moves the others. */
export interface ParameterGroups {
  readonly all: readonly Place[];
  /** Matrices whose sides are both long, by their shape: those of one shape are one product. */
  readonly matrices: readonly (readonly Place[])[];
}

/** @param shapes of the arrays that lie one after the other in the flat vector */
export function parameterGroups(shapes: readonly Shape[]): ParameterGroups {
  let at = 0;
  const all = shapes.map((shape): Place => {
    at += sizeOf(shape);
    return { from: at - sizeOf(shape), to: at, shape };
  });
  const byShape = new Map<string, Place[]>();
  for (const place of all) {
    const { shape } = place;
    if (shape.length !== 2 || Math.min(...shape) < LEAST_SIDE) continue;
    byShape.set(shape.join(), [...(byShape.get(shape.join()) ?? []), place]);
  }
  return { all, matrices: [...byShape.values()] };
}

/**
 * θ and m after a step of Muon for matrices, and those of `next` for other arrays.
 *
 * @param rate η
 */
export function muon(
  before: AdamState<Tensor>,
  next: AdamState<Tensor>,
  gradient: Tensor,
  rate: Tensor,
  { all, matrices }: ParameterGroups,
): AdamState<Tensor> {
  const momentum = add(mul(before.m, MOMENTUM), mul(gradient, 1 - MOMENTUM));
  const mixed = add(mul(gradient, 1 - MOMENTUM), mul(momentum, MOMENTUM));
  const updates = new Map<Place, Tensor>();
  for (const own of matrices) {
    const [rows, columns] = own[0].shape;
    const stack = concat(
      own.map(({ from, to }) => reshape(slice(mixed, [from, to]), [1, rows, columns])),
      0,
    );
    const moved = mul(orthogonal(stack), Math.sqrt(Math.max(1, columns / rows)));
    own.forEach((place, i) => {
      updates.set(place, reshape(slice(moved, [i, i + 1]), [-1]));
    });
  }
  const kept = sub(1, mul(rate, DECAY));
  const joined = (of: (place: Place) => Tensor): Tensor => concat(all.map(of), 0);
  return {
    theta: joined((place) => {
      const { from, to } = place;
      const update = updates.get(place);
      return update
        ? sub(mul(slice(before.theta, [from, to]), kept), mul(update, rate))
        : slice(next.theta, [from, to]);
    }),
    m: joined((place) => slice(updates.has(place) ? momentum : next.m, [place.from, place.to])),
    v: next.v,
  };
}
