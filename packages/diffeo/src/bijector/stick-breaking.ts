/**
 * Stick-breaking onto the open simplex {y > 0, Σy < 1}: step i breaks the share zᵢ off the rest of
 * a stick of length 1.
 *
 *   zᵢ = σ(uᵢ)   uᵢ = xᵢ − oᵢ   yᵢ = zᵢ rᵢ₋₁   rᵢ = Πⱼ≤ᵢ (1 − zⱼ) = 1 − Σⱼ≤ᵢ yⱼ
 *
 * With the offset oᵢ = log(n + 1 − i), x = 0 gives equal shares; without it, each share is half of
 * the rest. In logarithms: log yᵢ = log σ(uᵢ) + Σⱼ<ᵢ log σ(−uⱼ), log rᵢ = Σⱼ≤ᵢ log σ(−uⱼ).
 */
import {
  add,
  constant,
  cumsum,
  exp,
  log,
  logSigmoid,
  mul,
  neg,
  sigmoid,
  square,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import type { Bijector, Diffusion } from "./bijector.ts";
import { columnsOf, rowSquares } from "./coefficient.ts";
import { inOpenSimplex, remainders } from "./simplex.ts";

/** Options of `stickBreaking`. */
export interface StickBreakingOptions {
  /** Whether x = 0 maps to the centre of the simplex. Default true. */
  readonly centred?: boolean;
}

const before = (x: Tensor): Tensor => cumsum(x, -1, { exclusive: true });
const after = (x: Tensor): Tensor => cumsum(x, -1, { exclusive: true, reverse: true });
const upTo = (x: Tensor): Tensor => cumsum(x, -1);
const from = (x: Tensor): Tensor => cumsum(x, -1, { reverse: true });

/** Expressions that the map and its derivatives share. */
function formsOf(centred: boolean) {
  const sizeOf = (x: Tensor): number => x.shape.at(-1) as number;
  const offset = (x: Tensor): Tensor =>
    constant(
      Array.from({ length: sizeOf(x) }, (_, i) => (centred ? Math.log(sizeOf(x) - i) : 0)),
      x.dtype,
    );
  const logits = (x: Tensor): Tensor => sub(x, offset(x));
  const logShares = (x: Tensor): Tensor => {
    const u = logits(x);
    return add(logSigmoid(u), before(logSigmoid(neg(u))));
  };
  const logRests = (x: Tensor): Tensor => upTo(logSigmoid(neg(logits(x))));
  const forward = (x: Tensor): Tensor => exp(logShares(x));

  // d log yᵢ = (1 − zᵢ)vᵢ − Σⱼ<ᵢ zⱼvⱼ, from (log σ(u))′ = σ(−u) and (log σ(−u))′ = −σ(u).
  const logAlong = (x: Tensor, v: Tensor): Tensor => {
    const u = logits(x);
    return sub(mul(sigmoid(neg(u)), v), before(mul(sigmoid(u), v)));
  };
  const along = (x: Tensor, v: Tensor): Tensor => mul(forward(x), logAlong(x, v));
  return { sizeOf, offset, logits, logShares, logRests, forward, logAlong, along };
}

/** The Itô terms, in y and pulled back to x. */
function itoTerms({ sizeOf, logits, logAlong, along, forward }: ReturnType<typeof formsOf>) {
  /**
   * D²yᵢ[v, v] = yᵢ((d log yᵢ)² + d² log yᵢ), d² log yᵢ = −Σⱼ≤ᵢ zⱼ(1 − zⱼ)vⱼ².
   * For columns dₖeₖ along the axes the sum over k is yᵢ((1 − zᵢ)(1 − 2zᵢ)dᵢ² + Σⱼ<ᵢ zⱼ(2zⱼ −
   * 1)dⱼ²), which is
   * J applied to d²(1 − 2z).
   */
  const itoTrace = (x: Tensor, diffusion: Diffusion): Tensor => {
    const u = logits(x);
    const squares = rowSquares(diffusion, [sizeOf(x)]);
    if (diffusion.kind !== "matrix")
      return along(x, mul(squares, sub(sigmoid(neg(u)), sigmoid(u))));
    const slopes = sum(square(logAlong(x, columnsOf(diffusion, x, 1))), 0);
    const bends = upTo(mul(mul(sigmoid(u), sigmoid(neg(u))), squares));
    return mul(forward(x), sub(slopes, bends));
  };
  /**
   * xᵢ = log yᵢ − log rᵢ + oᵢ and D²f/f = (d log f)² + d² log f, so (J⁻¹D²y)ᵢ = D²yᵢ/yᵢ −
   * D²rᵢ/rᵢ. With S = Σⱼ≤ᵢ zⱼvⱼ, d log rᵢ = −S and d log yᵢ = vᵢ − S, while d² log is the same
   * for both: (vᵢ − S)² − S² = vᵢ(vᵢ − 2S).
   */
  const pullItoTrace = (x: Tensor, diffusion: Diffusion): Tensor => {
    const z = sigmoid(logits(x));
    if (diffusion.kind !== "matrix")
      return mul(rowSquares(diffusion, [sizeOf(x)]), sub(sigmoid(neg(logits(x))), z));
    const v = columnsOf(diffusion, x, 1);
    return sum(mul(v, sub(v, mul(upTo(mul(z, v)), 2))), 0);
  };
  return { itoTrace, pullItoTrace };
}

/**
 * The stick-breaking map onto the open simplex {y > 0, Σy < 1}: coordinate i takes the share σ(xᵢ −
 * oᵢ) of the rest.
 */
export function stickBreaking({ centred = true }: StickBreakingOptions = {}): Bijector {
  const forms = formsOf(centred);
  const { sizeOf, offset, logits, logShares, logRests, forward, along } = forms;
  return {
    name: centred ? "stick-breaking" : "stick-breaking, not centred",
    eventRank: 1,
    forward,
    // zᵢ/(1 − zᵢ) = yᵢ/rᵢ
    inverse: (y) => add(sub(log(y), log(remainders(y))), offset(y)),
    contains: inOpenSimplex,
    // J is lower triangular with ∂yᵢ/∂xᵢ = yᵢ(1 − zᵢ).
    logDet: (x) => sum(add(logShares(x), logSigmoid(neg(logits(x)))), -1),
    pushVector: along,
    pullCovector: (x, u) => {
      const w = mul(forward(x), u);
      const z = logits(x);
      return sub(mul(sigmoid(neg(z)), w), mul(sigmoid(z), after(w)));
    },
    // xᵢ = log yᵢ − log rᵢ + oᵢ with rᵢ = 1 − Σⱼ≤ᵢ yⱼ: (J⁻¹v)ᵢ = vᵢ/yᵢ + Σⱼ≤ᵢ vⱼ/rᵢ.
    pullVector: (x, v) => add(mul(v, exp(neg(logShares(x)))), mul(upTo(v), exp(neg(logRests(x))))),
    pushCovector: (x, u) =>
      add(mul(u, exp(neg(logShares(x)))), from(mul(u, exp(neg(logRests(x)))))),
    // In ℓ = Σᵢ log zᵢ + (n − i + 1) log(1 − zᵢ) every later share contributes 1 − zᵢ once: ℓ′ᵢ = 1
    // − (n − i + 2)zᵢ.
    gradLogDet: (x) => {
      const n = sizeOf(x);
      const counts = constant(
        Array.from({ length: n }, (_, i) => n + 1 - i),
        x.dtype,
      );
      return sub(1, mul(counts, sigmoid(logits(x))));
    },
    ...itoTerms(forms),
  };
}
