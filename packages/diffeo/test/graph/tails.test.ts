import { beforeAll, describe, expect, it } from "vitest";
import { compile } from "../../src/engine/index.ts";
import {
  erf,
  expm1,
  gradEach,
  log1p,
  logAbsDet,
  logSigmoid,
  logSumExp,
  type NdArray,
  reshape,
  sigmoid,
  silu,
  softmax,
  softplus,
  type Tensor,
  tanh,
} from "../../src/graph/index.ts";

type Function = (x: Tensor) => Tensor;

const logDet2 = (x: Tensor): Tensor => logAbsDet(reshape(x, [2, 2]));

const derivative = (f: Function, order: number): Function => (order === 0 ? f : derivative(gradEach(f), order - 1));

/**
 * Values rounded to float64 from 60 digits (mpmath). Arguments are exact in float32. All are places where the obvious
 * formula (1 − σ, log(1 + x), eˣ − 1, 1 − tanh²) has no digit left.
 */
const table: readonly (readonly [name: string, f: Function, order: number, x: number | number[], value: number])[] = [
  ["σ", sigmoid, 0, -80, 1.8048513878454153e-35],
  ["σ", sigmoid, 0, -40, 4.248354255291589e-18],
  ["σ", sigmoid, 0, -20, 2.0611536181902037e-9],
  ["σ′", sigmoid, 1, -40, 4.248354255291589e-18],
  ["σ′", sigmoid, 1, 40, 4.248354255291589e-18],
  ["σ′", sigmoid, 1, 20, 2.061153613941849e-9],
  ["σ″", sigmoid, 2, -40, 4.248354255291589e-18],
  ["σ″", sigmoid, 2, 40, -4.248354255291589e-18],
  ["softplus", softplus, 0, -80, 1.8048513878454153e-35],
  ["softplus", softplus, 0, -50, 1.9287498479639178e-22],
  ["softplus", softplus, 0, -20, 2.061153620314381e-9],
  ["softplus", softplus, 0, 20, 20.000000002061153],
  ["softplus", softplus, 0, 50, 50],
  ["softplus′", softplus, 1, -50, 1.9287498479639178e-22],
  ["softplus″", softplus, 2, 50, 1.9287498479639178e-22],
  ["softplus‴", softplus, 3, 40, -4.248354255291589e-18],
  ["softplus‴", softplus, 3, -40, 4.248354255291589e-18],
  ["log σ", logSigmoid, 0, 50, -1.9287498479639178e-22],
  ["log σ", logSigmoid, 0, -50, -50],
  ["(log σ)′", logSigmoid, 1, 40, 4.248354255291589e-18],
  ["silu", silu, 0, -40, -1.6993417021166355e-16],
  ["silu′", silu, 1, -40, -1.6568581595637197e-16],
  ["tanh", tanh, 0, 2 ** -40, 9.094947017729282e-13],
  ["tanh", tanh, 0, 0.125, 0.12435300177159621],
  ["tanh′", tanh, 1, 5, 0.0001815832309438067],
  ["tanh′", tanh, 1, 20, 1.6993417021166355e-17],
  ["tanh′", tanh, 1, -20, 1.6993417021166355e-17],
  ["tanh″", tanh, 2, 20, -3.398683404233271e-17],
  ["log1p", log1p, 0, 2 ** -60, 8.673617379884035e-19],
  ["log1p", log1p, 0, -(2 ** -60), -8.673617379884035e-19],
  ["log1p", log1p, 0, 2 ** -24, 5.960464299903386e-8],
  ["log1p", log1p, 0, 2 ** -10, 0.0009760859730554589],
  ["log1p", log1p, 0, -1023 / 1024, -6.931471805599453],
  ["log1p", log1p, 0, 2 ** 100, 69.31471805599453],
  ["expm1", expm1, 0, 2 ** -60, 8.673617379884035e-19],
  ["expm1", expm1, 0, 2 ** -40, 9.094947017733418e-13],
  ["expm1", expm1, 0, -(2 ** -24), -5.960464299903382e-8],
  ["expm1", expm1, 0, 2 ** -10, 0.0009770394924165351],
  ["expm1", expm1, 0, -50, -1],
  ["expm1", expm1, 0, 50, 5.184705528587072e21],
  ["erf", erf, 0, 2 ** -40, 1.0262548740643184e-12],
  ["erf", erf, 0, 0.125, 0.1403162048013338],
  ["erf", erf, 0, 1, 0.8427007929497149],
  ["erf", erf, 0, -1.25, -0.9229001282564583],
  ["erf", erf, 0, 3, 0.9999779095030014],
  ["erf", erf, 0, 5, 0.9999999999984626],
  ["erf′", erf, 1, 5, 1.5670866531017336e-11],
  ["erf′", erf, 1, -8, 1.8097067968559843e-28],
  ["erf″", erf, 2, 5, -1.5670866531017336e-10],
  ["log Σ exp", (x) => logSumExp(x), 0, [1000, 1000.5], 1000.9740769841801],
  ["log Σ exp", (x) => logSumExp(x), 0, [-1000, -999.5], -999.0259230158199],
  ["softmax₀", (x) => softmax(x), 0, [-40, 0, 1], 1.142558431901387e-18],
  ["log |det|", logDet2, 0, [2 ** -84, 0, 0, 2 ** -84], -116.44872633407081],
  ["log |det|", logDet2, 0, [2 ** 84, 0, 2 ** 84, 2 ** 84], 116.44872633407081],
  ["log |det|", logDet2, 0, [1, 0, 1, 2 ** -84], -58.224363167035406],
  ["softmax₀", (x) => softmax(x), 0, [-80, 0, 1], 4.853992976087543e-36],
];

const name = (f: string, x: number | readonly number[]): string => `${f}(${x})`;

describe.each([
  ["reference", "float64", 1e-15],
  ["cpu", "float64", 1e-15],
  ["cpu", "float32", 1e-6],
] as const)("on device %s in %s, with relative errors below %s", (device, type, tolerance) => {
  let values: readonly NdArray[];
  beforeAll(async () => {
    const all = compile(
      (x: readonly Tensor[]) => table.map(([, f, order], i) => derivative(f, order)(x[i])),
      [table.map(([, , , x]) => [[x].flat().length])],
      { device, type },
    );
    values = await all(table.map(([, , , x]) => [x].flat()));
    await all.dispose();
  });

  it.each(table.map(([f, , , x, value], i) => [name(f, x), value, i] as const))("%s is %s", (_, value, i) => {
    expect(Math.abs((values[i].data[0] as number) / value - 1)).toBeLessThanOrEqual(tolerance);
  });
});

describe("far from 0", () => {
  const functions: readonly Function[] = [sigmoid, softplus, tanh, silu, erf, logSigmoid];
  const all = functions.flatMap((f) => [0, 1, 2].map((order) => derivative(f, order)));

  it.each(["float64", "float32"] as const)("no derivative overflows or becomes NaN in %s", async (type) => {
    const f = compile((t: Tensor) => all.map((g) => g(t)), [[null]], { type });
    for (const y of await f([-1e4, -1000, -100, 100, 1000, 1e4]))
      expect(Array.from(y.data as Float64Array)).toSatisfy((values: number[]) => values.every(Number.isFinite));
    await f.dispose();
  });
});
