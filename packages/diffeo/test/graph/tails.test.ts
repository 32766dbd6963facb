import { beforeAll, describe, expect, it } from "vitest";
import { type CompileOptions, compile } from "../../src/engine/index.ts";
import {
  asinh,
  atan,
  cosh,
  erf,
  erfc,
  erfInverse,
  expm1,
  gradEach,
  log1p,
  logAbsDet,
  logSigmoid,
  logSumExp,
  type NdArray,
  normalQuantile,
  reshape,
  sigmoid,
  silu,
  sinh,
  softmax,
  softplus,
  type Tensor,
  tanh,
} from "../../src/graph/index.ts";

type Function = (x: Tensor) => Tensor;

const logDet2 = (x: Tensor): Tensor => logAbsDet(reshape(x, [2, 2]));

const derivative = (f: Function, order: number): Function =>
  order === 0 ? f : derivative(gradEach(f), order - 1);

/**
 * Values rounded to float64 from 60 digits (mpmath). Arguments are exact in float32. All are places
 * where the obvious formula (1 − σ, log(1 + x), eˣ − 1, 1 − tanh²) has no digit left.
 */
const table: readonly (readonly [
  name: string,
  f: Function,
  order: number,
  x: number | number[],
  value: number,
])[] = [
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
  ["erfc", erfc, 0, -3.0, 1.9999779095030015],
  ["erfc", erfc, 0, -0.25, 1.276326390168237],
  ["erfc", erfc, 0, 0.0, 1.0],
  ["erfc", erfc, 0, 2 ** -40, 0.9999999999989737],
  ["erfc", erfc, 0, 0.25, 0.7236736098317631],
  ["erfc", erfc, 0, 0.5, 0.4795001221869535],
  ["erfc", erfc, 0, 1.0, 0.15729920705028513],
  ["erfc", erfc, 0, 1.5, 0.033894853524689274],
  ["erfc", erfc, 0, 2.5, 0.0004069520174449589],
  ["erfc", erfc, 0, 4.25, 1.8505741373867425e-9],
  ["erfc", erfc, 0, 5.0, 1.537459794428035e-12],
  ["erfc", erfc, 0, 8.0, 1.1224297172982926e-29],
  ["erfc", erfc, 0, 9.0, 4.13703174651381e-37],
  ["erfc′", erfc, 1, 5.0, -1.5670866531017336e-11],
  ["erfc″", erfc, 2, 3.0, 0.0008355183116804871],
  ["erf⁻¹", erfInverse, 0, 2 ** -60, 7.686793263128236e-19],
  ["erf⁻¹", erfInverse, 0, 0.25, 0.2253120550121781],
  ["erf⁻¹", erfInverse, 0, -0.5, -0.4769362762044699],
  ["erf⁻¹", erfInverse, 0, 0.84375, 1.00253397062404],
  ["erf⁻¹", erfInverse, 0, -0.875, -1.0847870400692832],
  ["erf⁻¹", erfInverse, 0, 1 - 2 ** -12, 2.5939005131344874],
  ["erf⁻¹", erfInverse, 0, 1 - 2 ** -24, 3.832506856900711],
  ["erf⁻¹", erfInverse, 0, -1 + 2 ** -20, -3.465505025803331],
  ["(erf⁻¹)′", erfInverse, 1, 0.75, 1.7174997693674523],
  ["(erf⁻¹)″", erfInverse, 2, 0.5, 1.1807463499934],
  ["(erf⁻¹)‴", erfInverse, 3, 0.5, 5.26058253926122],
  ["(Φ⁻¹)″", normalQuantile, 2, 0.25, -6.679310007532782],
  ["Φ⁻¹", normalQuantile, 0, 0.0625, -1.5341205443525463],
  ["Φ⁻¹", normalQuantile, 0, 0.75, 0.6744897501960817],
  ["Φ⁻¹", normalQuantile, 0, 2 ** -10, -3.0972690781987846],
  ["Φ⁻¹", normalQuantile, 0, 2 ** -30, -6.009353565530744],
  ["Φ⁻¹", normalQuantile, 0, 2 ** -60, -8.773321169027552],
  ["Φ⁻¹", normalQuantile, 0, 2 ** -120, -12.626696560491395],
  ["Φ⁻¹", normalQuantile, 0, 1 - 2 ** -20, 4.7630010342678135],
  ["(Φ⁻¹)′", normalQuantile, 1, 0.125, 4.857822934424227],
  ["sinh", sinh, 0, 2 ** -60, 8.673617379884035e-19],
  ["sinh", sinh, 0, 2 ** -10, 0.0009765626552204365],
  ["sinh", sinh, 0, 0.5, 0.5210953054937474],
  ["sinh", sinh, 0, -1.5, -2.1292794550948173],
  ["sinh", sinh, 0, 19.5, 147133783.0207544],
  ["sinh", sinh, 0, 20.5, 399951088.7377527],
  ["sinh", sinh, 0, -80.0, -2.770311192196755e34],
  ["sinh″", sinh, 2, 2 ** -20, 9.536743164063946e-7],
  ["cosh", cosh, 0, 0.125, 1.0078226778257109],
  ["cosh", cosh, 0, -1.5, 2.352409615243247],
  ["cosh", cosh, 0, 80.0, 2.770311192196755e34],
  ["asinh", asinh, 0, 2 ** -60, 8.673617379884035e-19],
  ["asinh", asinh, 0, 2 ** -10, 0.0009765623447796375],
  ["asinh", asinh, 0, 0.75, Math.LN2],
  ["asinh", asinh, 0, -3.0, -1.8184464592320668],
  ["asinh", asinh, 0, 2 ** 20, 14.556090791759079],
  ["asinh", asinh, 0, -(2 ** 100), -70.00786523655448],
  ["asinh′", asinh, 1, 2 ** 100, 7.888609052210118e-31],
  ["asinh″", asinh, 2, 3.0, -0.09486832980505137],
  ["atan", atan, 0, 2 ** -30, 9.313225746154785e-10],
  ["atan", atan, 0, 0.75, 0.6435011087932844],
  ["atan", atan, 0, -(2 ** 100), -1.5707963267948966],
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
  ["wasm", "float64", 1e-15],
  ["wasm", "float32", 1e-6],
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

  it.each(table.map(([f, , , x, value], i) => [name(f, x), value, i] as const))(
    "%s is %s",
    (_, value, i) => {
      expect(Math.abs((values[i].data[0] as number) / value - 1)).toBeLessThanOrEqual(tolerance);
    },
  );
});

/** x, silu(x), silu′(x), silu″(x), silu‴(x), again from 60 digits. */
const siluTable: readonly (readonly number[])[] = [
  [
    -700, -6.90177358063184e-302, -6.891913904088079e-302, -6.88205422754432e-302,
    -6.87219455100056e-302,
  ],
  [
    -100, -3.720075976020836e-42, -3.682875216260628e-42, -3.645674456500419e-42,
    -3.608473696740211e-42,
  ],
  [
    -40, -1.6993417021166355e-16, -1.6568581595637197e-16, -1.6143746170108038e-16,
    -1.571891074457888e-16,
  ],
  [
    -20, -4.122307236380407e-8, -3.9161918660646786e-8, -3.710076488101912e-8,
    -3.503961095269906e-8,
  ],
  [-5, -0.03346425462142428, -0.02654743242966592, -0.019499225490032506, -0.012237180330041961],
  [-(2 ** -60), -4.336808689942018e-19, 0.5, 0.5, 4.336808689942018e-19],
  [2 ** -60, 4.336808689942018e-19, 0.5, 0.5, -4.336808689942018e-19],
  [5, 4.966535745378576, 1.026547432429666, -0.019499225490032506, 0.012237180330041961],
  [20, 19.99999995877693, 1.0000000391619186, -3.710076488101912e-8, 3.503961095269906e-8],
  [100, 100, 1, -3.645674456500419e-42, 3.608473696740211e-42],
  [700, 700, 1, -6.88205422754432e-302, 6.87219455100056e-302],
];

describe("silu and three derivatives", () => {
  const orders = [0, 1, 2, 3];
  const siluAt = async (
    points: readonly number[],
    options: CompileOptions,
  ): Promise<number[][]> => {
    const f = compile(
      (x: Tensor) => orders.map((order) => derivative(silu, order)(x)),
      [[points.length]],
      options,
    );
    const found = await f(points).finally(() => f.dispose());
    return found.map(({ data }) => Array.from(data as Float64Array));
  };

  it.each([
    ["reference", "float64", 1e-15],
    ["cpu", "float64", 1e-15],
    ["cpu", "float32", 1.5e-7],
    ["wasm", "float64", 1e-15],
    ["wasm", "float32", 1.5e-7],
  ] as const)(
    "on device %s in %s have errors below %s of max(1, |x|)",
    async (device, type, tolerance) => {
      const found = await siluAt(
        siluTable.map(([x]) => x),
        { device, type },
      );
      for (const order of orders)
        for (const [i, [x, ...values]] of siluTable.entries())
          expect(
            Math.abs(found[order][i] - values[order]) / Math.max(1, Math.abs(x)),
          ).toBeLessThanOrEqual(tolerance);
    },
  );

  it("of orders one and two have full float64 accuracy below 0", async () => {
    const below = siluTable.filter(([x]) => x < 0);
    const found = await siluAt(
      below.map(([x]) => x),
      { type: "float64" },
    );
    for (const order of [0, 1])
      for (const [i, [, ...values]] of below.entries())
        expect(Math.abs(found[order][i] / values[order] - 1)).toBeLessThanOrEqual(1e-15);
  });

  it("in float32 equal those in float64 up to a rounding error of max(1, |x|)", async () => {
    const points = Array.from({ length: 2001 }, (_, i) => Math.fround((i - 1000) / 20));
    const [found, exact] = [
      await siluAt(points, {}),
      await siluAt(points, { device: "reference" }),
    ];
    for (const order of orders)
      for (const [i, x] of points.entries())
        expect(
          Math.abs(found[order][i] - exact[order][i]) / Math.max(1, Math.abs(x)),
        ).toBeLessThanOrEqual(1.5e-7);
  });

  it.each(["float32", "float64"] as const)("keep the sign of 0 in %s", async (type) => {
    const [values, slopes] = await siluAt([0, -0], { type });
    expect(values).toEqual([0, -0]);
    expect(slopes).toEqual([0.5, 0.5]);
  });
});

describe("at large arguments", () => {
  const functions: readonly Function[] = [
    sigmoid,
    softplus,
    tanh,
    silu,
    erf,
    erfc,
    asinh,
    logSigmoid,
  ];
  const all = functions.flatMap((f) => [0, 1, 2].map((order) => derivative(f, order)));

  it.each(["float64", "float32"] as const)(
    "no derivative overflows or becomes NaN in %s",
    async (type) => {
      const f = compile((t: Tensor) => all.map((g) => g(t)), [[null]], { type });
      for (const y of await f([-1e4, -1000, -100, 100, 1000, 1e4]))
        expect(Array.from(y.data as Float64Array)).toSatisfy((values: number[]) =>
          values.every(Number.isFinite),
        );
      await f.dispose();
    },
  );
});

it.each([
  ["float64", 710.375, 1.6252216025336429e308, 1e-15],
  ["float32", 89.375, 3.266174053429246e38, 1e-6],
] as const)(
  "sinh and cosh are numbers in %s as long as they fit: at ±%d too",
  async (type, x, value, tolerance) => {
    const f = compile((t: Tensor) => [sinh(t), cosh(t), derivative(sinh, 1)(t)], [[2]], { type });
    const found = (await f([x, -x])).map(({ data }) =>
      Array.from(data as Float64Array, (v) => v / value),
    );
    await f.dispose();
    found.forEach((ratios, i) => {
      expect(Math.abs(ratios[0] - 1)).toBeLessThanOrEqual(tolerance);
      expect(Math.abs(ratios[1] - (i === 0 ? -1 : 1))).toBeLessThanOrEqual(tolerance);
    });
  },
);

describe.each(["reference", "cpu", "wasm"] as const)(
  "at the ends of their domains, on device %s",
  (device) => {
    const [inf, none] = [Number.POSITIVE_INFINITY, Number.NaN];
    const ends: readonly (readonly [
      name: string,
      f: Function,
      x: readonly number[],
      y: readonly number[],
    ])[] = [
      ["erf", erf, [-inf, 0, inf, none], [-1, 0, 1, none]],
      ["erfc", erfc, [-inf, 0, inf, 1e30, -1e30, none], [2, 1, 0, 0, 2, none]],
      ["erf⁻¹", erfInverse, [-1, 0, 1, 1.5, -2, inf, none], [-inf, 0, inf, none, none, none, none]],
      ["Φ⁻¹", normalQuantile, [0, 0.5, 1, -0.5, 1.5, none], [-inf, 0, inf, none, none, none]],
      ["sinh", sinh, [-inf, 0, inf, -1e30, none], [-inf, 0, inf, -inf, none]],
      ["cosh", cosh, [-inf, 0, inf, 1e30, none], [inf, 1, inf, inf, none]],
      ["asinh", asinh, [-inf, 0, inf, none], [-inf, 0, inf, none]],
      ["atan", atan, [-inf, 0, inf, none], [-Math.PI / 2, 0, Math.PI / 2, none]],
    ];
    for (const type of ["float64", "float32"] as const)
      it.each(ends)(`%s in ${type}`, async (_, f, x, y) => {
        if (device === "reference" && type === "float32") return;
        const g = compile((t: Tensor) => f(t), [[x.length]], { device, type });
        const got = Array.from((await g(x)).data as Float64Array);
        const near = (v: number, i: number): boolean =>
          Math.abs(v - y[i]) <= (type === "float32" ? 5e-7 : 1e-15);
        expect(got.map((v, i) => (near(v, i) ? y[i] : v))).toEqual(y);
        await g.dispose();
      });
  },
);
