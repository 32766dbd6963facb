/**
 * Steps of the flow of a likelihood: Runge and Kutta first, then Adams and Bashforth of order 4.
 */

/** s + Σ c k */
function moved(
  s: Float64Array,
  ...terms: readonly (readonly [Float64Array, number])[]
): Float64Array {
  const out = s.slice();
  for (const [k, c] of terms) for (let i = 0; i < out.length; i++) out[i] += c * k[i];
  return out;
}

export type Slope = (state: Float64Array, u: number) => Promise<Float64Array>;

/** What the classical rule of order 4 makes of its first value and three more. */
async function rungeKutta(field: Slope, s: Float64Array, k1: Float64Array, u: number, h: number) {
  const k2 = await field(moved(s, [k1, h / 2]), u + h / 2);
  const k3 = await field(moved(s, [k2, h / 2]), u + h / 2);
  const k4 = await field(moved(s, [k3, h]), u + h);
  return moved(s, [k1, h / 6], [k2, h / 3], [k3, h / 3], [k4, h / 6]);
}

/** Of the last four values, the newest first. */
export const ADAMS = [55 / 24, -59 / 24, 37 / 24, -9 / 24];

/** Evaluations of three first steps beyond one a step. */
export const STARTING = 9;

export async function integrated(
  field: Slope,
  start: Float64Array,
  from: number,
  to: number,
  steps: number,
) {
  const h = (to - from) / steps;
  const past: Float64Array[] = [];
  let s = start;
  for (let k = 0; k < steps; k++) {
    const u = from + k * h;
    const slope = await field(s, u);
    past.unshift(slope);
    if (past.length < ADAMS.length) s = await rungeKutta(field, s, slope, u, h);
    else {
      s = moved(s, ...ADAMS.map((c, j) => [past[j], c * h] as const));
      past.pop();
    }
  }
  return s;
}
