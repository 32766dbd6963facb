/**
 * v(x) = ½ xᵀA x + b·x, with A symmetric and Gaussian: A_ii ~ N(0, σ₁²), A_ij ~ N(0, σ₂²), E[bbᵀ] =
 * σ₃²I
 *  (eq:v_quadratic)
 *
 *   ∇v = Ax + b =: w      H_v∇v = A w      Δv = tr A
 *   C = σ₂²(‖x‖²I + xxᵀ) + (σ₁² − 2σ₂²) diag(x²) + σ₃²I      div C = (2σ₁² + (n−1)σ₂²) x
 *
 * C: E[A_ij A_kl] is σ₂² for {i,j} = {k,l}, i ≠ j, and σ₁² for i = j = k = l (eq:expectation_T1).
 * div C: Σ_j ∂_j C_ij = σ₂²(2x_i + (n+1)x_i) + 2(σ₁² − 2σ₂²)x_i.
 */
import {
  add,
  constant,
  div,
  dot,
  expandDims,
  fail,
  greater,
  matvec,
  mul,
  sqrt,
  squaredNorm,
  sub,
  sum,
  type Tensor,
  take,
  transpose,
  where,
} from "../graph/index.ts";
import type { DrawSpec, Draws } from "./draws.ts";
import type { SliceFamily } from "./family.ts";
import { gaussianUnitMoments } from "./normalised.ts";
import type { Slice } from "./slice.ts";

/** Options of `quadraticSlices`: the variances of the coefficients. */
export interface QuadraticOptions {
  /** σ₁². Default 2/√n. */
  readonly varDiagonal?: number;
  /** σ₂². Default 1/√n. */
  readonly varOffDiagonal?: number;
  /** σ₃². Default 1. */
  readonly varLinear?: number;
  /** The distribution of b. Default `rademacher`. Second moments, and so C, do not depend on it. */
  readonly linear?: "rademacher" | "normal";
  /**
   * Whether to compute A, which costs O(n²) per point. It is necessary, and done, if σ₁² < 2σ₂²;
   * otherwise it is a check. Default false.
   */
  readonly explicit?: boolean;
}

interface Variances {
  readonly diagonal: number;
  readonly off: number;
  readonly linear: number;
}

const variances = (options: QuadraticOptions, n: number): Variances => ({
  diagonal: options.varDiagonal ?? 2 / Math.sqrt(n),
  off: options.varOffDiagonal ?? 1 / Math.sqrt(n),
  linear: options.varLinear ?? 1,
});

const requireVariances = ({
  varDiagonal = 1,
  varOffDiagonal = 1,
  varLinear = 1,
}: QuadraticOptions): void => {
  for (const [name, value] of Object.entries({ varDiagonal, varOffDiagonal, varLinear }))
    if (!(value >= 0))
      fail("usage", `quadraticSlices: \`${name}\` is ${value}`, "give a variance of at least 0");
};

const isExplicit = (options: QuadraticOptions, { diagonal, off }: Variances, n: number): boolean =>
  n > 1 && (options.explicit === true || diagonal < 2 * off);

const scaled = (v: Tensor, variance: number): Tensor => mul(v, Math.sqrt(variance));
const along = (size: Tensor, direction: Tensor): Tensor => mul(expandDims(size, -1), direction);

/** v − (v·e)e: orthogonal to a unit vector, or v itself where e = 0. */
const without = (v: Tensor, e: Tensor): Tensor => sub(v, along(dot(v, e), e));

/** v/‖v‖, and 0 where v = 0. */
function unit(v: Tensor): { length: Tensor; direction: Tensor } {
  const length = sqrt(squaredNorm(v));
  return { length, direction: div(v, expandDims(where(greater(length, 0), length, 1), -1)) };
}

/**
 * (Ax + b, A(Ax + b), tr A) jointly in O(n), for σ₁² ≥ 2σ₂².
 *
 * With τ² = σ₂² and σ₁² = 2τ², A has the distribution of QᵀAQ for every rotation Q. So A may be
 * written in any orthonormal basis that is independent of the entries not sampled yet. Take e₁ =
 * x/‖x‖. The first row of A there is g = a₁₁e₁ + h, h ⊥ e₁, hence Ax = ‖x‖g. Now w = Ax + b is
 * known; take e₂ along w⊥ = w − (w·e₁)e₁ = ρe₂. The block of A orthogonal to e₁ is not sampled yet,
 * so its row along e₂ is a₂₂e₂ + k, k ⊥ e₁, e₂, and
 *   A w = (w·e₁) g + A w⊥ = (w·e₁) g + (h·w⊥)e₁ + ρ(a₂₂e₂ + k).
 * The rest of the trace is N(0, 2τ²(n−2)). A further diagonal d_i ~ N(0, σ₁² − 2σ₂²) adds d∘x to
 * Ax, d∘w to Aw, Σd to tr A. If x = 0, the direction e₁ is 0 and every equation still holds.
 */
function jointSlice(
  x: Tensor,
  draws: Draws<Tensor>,
  { diagonal, off }: Variances,
  b: Tensor,
): Slice {
  const n = x.shape.at(-1) as number;
  const entry = (i: number): Tensor =>
    scaled(take(draws.entries, constant(i, "int32"), -1), 2 * off);
  const { length: r, direction: e1 } = unit(x);
  const h = without(scaled(draws.h, off), e1);
  const g = add(along(entry(0), e1), h);
  const extra = diagonal > 2 * off ? scaled(draws.d, diagonal - 2 * off) : undefined;
  const linear = extra ? add(mul(extra, x), b) : b;
  const w = add(along(r, g), linear);
  const c = dot(w, e1);
  const { length: rho, direction: e2 } = unit(without(w, e1));
  const k = without(without(scaled(draws.k, off), e1), e2);
  const beyond = add(along(entry(1), e2), k);
  const aw = add(add(along(c, g), along(mul(dot(h, e2), rho), e1)), along(rho, beyond));
  const rest = mul(entry(2), Math.sqrt(n - 2));
  const trace = add(add(entry(0), entry(1)), rest);
  return extra
    ? { grad: w, hvp: add(aw, mul(extra, w)), laplacian: add(trace, sum(extra, -1)) }
    : { grad: w, hvp: aw, laplacian: trace };
}

/** The same computed with A, the upper triangle of a square of normals, mirrored. */
function explicitSlice(
  x: Tensor,
  { a }: Draws<Tensor>,
  { diagonal, off }: Variances,
  b: Tensor,
): Slice {
  const n = x.shape.at(-1) as number;
  const mask = (f: (i: number, j: number) => number): Tensor =>
    constant(
      Array.from({ length: n }, (_, i) => Array.from({ length: n }, (__, j) => f(i, j))),
      x.dtype,
    );
  const upper = mul(
    a,
    mask((i, j) => (i < j ? Math.sqrt(off) : 0)),
  );
  const middle = mul(
    a,
    mask((i, j) => (i === j ? Math.sqrt(diagonal) : 0)),
  );
  const matrix = add(add(upper, transpose(upper)), middle);
  const w = add(matvec(matrix, x), b);
  return { grad: w, hvp: matvec(matrix, w), laplacian: sum(middle, [-2, -1]) };
}

/** Whether ∇v is Gaussian with a distribution that is invariant under rotations around x. */
const isInvariant = ({ varDiagonal, varOffDiagonal, linear }: QuadraticOptions): boolean =>
  linear === "normal" &&
  (varDiagonal === undefined && varOffDiagonal === undefined
    ? true
    : varDiagonal !== undefined && varDiagonal === 2 * (varOffDiagonal ?? Number.NaN));

/** Random quadratic functions as slices, with C in closed form (eq:v_quadratic). */
export const quadraticSlices = (options: QuadraticOptions = {}): SliceFamily => {
  requireVariances(options);
  return {
    unitMoments: isInvariant(options)
      ? (x) => {
          const { off, linear } = variances(options, x.shape.at(-1) as number);
          return gaussianUnitMoments(x, off, linear);
        }
      : undefined,
    name: "quadratic",
    draws: (n): DrawSpec => {
      const sizes = variances(options, n);
      const b = { b: { distribution: options.linear ?? "rademacher", shape: [n] } } as const;
      if (n === 1) return { ...b, a: { distribution: "normal", shape: [1] } };
      if (isExplicit(options, sizes, n))
        return { ...b, a: { distribution: "normal", shape: [n, n] } };
      const vector = { distribution: "normal", shape: [n] } as const;
      const joint: DrawSpec = {
        ...b,
        entries: { distribution: "normal", shape: [3] },
        h: vector,
        k: vector,
      };
      return sizes.diagonal > 2 * sizes.off ? { ...joint, d: vector } : joint;
    },
    slice: (x, draws) => {
      const n = x.shape.at(-1) as number;
      const sizes = variances(options, n);
      const b = scaled(draws.b, sizes.linear);
      if (n === 1) {
        const a = scaled(draws.a, sizes.diagonal);
        const w = add(mul(a, x), b);
        return { grad: w, hvp: mul(a, w), laplacian: sum(a, -1) };
      }
      return (isExplicit(options, sizes, n) ? explicitSlice : jointSlice)(x, draws, sizes, b);
    },
    moments: (x) => {
      const n = x.shape.at(-1) as number;
      const { diagonal, off, linear } = variances(options, n);
      const isotropic = expandDims(add(mul(squaredNorm(x), off), linear), -1);
      const excess = diagonal - 2 * off;
      return {
        covariance: {
          diagonal: Math.abs(excess) < 1e-12 ? isotropic : add(isotropic, mul(mul(x, x), excess)),
          directions: expandDims(mul(x, Math.sqrt(off)), -2),
        },
        divergence: mul(x, 2 * diagonal + (n - 1) * off),
      };
    },
  };
};
