/**
 * sin(x + 2πs) for a GPU, whose own sine may be off by 2⁻¹¹ (WGSL's bound; SwiftShader uses most of
 * it).
 *
 *   k = ⌊x/2π + s + ½⌋,  r = x − (k − s)·2π ∈ [−π, π]
 *   sin(x + 2πs) = sin r = Σₙ (−1)ⁿ r²ⁿ⁺¹/(2n+1)!
 *
 * 2π is split in two so that k times its first part is exact (Cody and Waite). The series stops at
 * r¹⁵, where the first term left out is π¹⁷/17! < 10⁻⁶.
 */
import { add, clip, floor, mul, sub } from "../arithmetic.ts";
import type { Tensor } from "../tensor.ts";

const HIGH = 6.28125; // seven significant bits
const LOW = 2 * Math.PI - HIGH;
const TERMS = 8;

/** `turns` is s: 0 gives the sine, ¼ the cosine. */
export function sineExpression(x: Tensor, turns: number): Tensor {
  const k = sub(floor(add(mul(x, 1 / (2 * Math.PI)), turns + 0.5)), turns);
  const near = sub(sub(x, mul(k, HIGH)), mul(k, LOW));
  // From about 10⁷ on a float32 has no phase, and the series must not be evaluated outside its
  // range.
  const r = clip(near, -Math.PI, Math.PI);
  const r2 = mul(r, r);
  // Horner: 1 − r²/(2·3)(1 − r²/(4·5)(1 − …))
  let series = add(mul(r2, -1 / ((2 * TERMS - 2) * (2 * TERMS - 1))), 1);
  for (let n = TERMS - 2; n >= 1; n--)
    series = add(mul(mul(r2, series), -1 / (2 * n * (2 * n + 1))), 1);
  return mul(r, series);
}
