/**
 * log Γ and its derivatives compared with values of 60 digits (mpmath), and at the ends of their
 * domain.
 */
import { describe, expect, it } from "vitest";
import { compile } from "../../src/engine/index.ts";
import { gradEach, logGamma, polygamma, type Tensor } from "../../src/graph/index.ts";

/** x, log Γ, ψ₀, ψ₁, ψ₃; every x is exact in float32. */
const table: readonly (readonly number[])[] = [
  [
    9.313225746154785e-10, 20.794415416260787, -1073741824.5772157, 1.152921504606847e18,
    7.975367974709495e36,
  ],
  [0.125, 2.0194183575537963, -8.388492663295855, 65.38813344498803, 24580.143419063566],
  [0.5, 0.5723649429247001, -1.9635100260214235, 4.934802200544679, 97.40909103400244],
  [0.984375, 0.009221337197578781, -0.6032154221232299, 1.683307193476627, 6.89816427144615],
  [1.0, 0.0, -0.5772156649015329, 1.6449340668482264, 6.493939402266829],
  [1.25, -0.09827183642181316, -0.22745353337626542, 1.1973291545071107, 2.782144009188396],
  [1.5, -0.12078223763524522, 0.03648997397857652, 0.9348022005446793, 1.4090910340024372],
  [2.0, 0.0, 0.42278433509846713, 0.6449340668482264, 0.49393940226682914],
  [2.015625, 0.006684476830232185, 0.43281241144752797, 0.6386795256112453, 0.4803417712666379],
  [3.75, 1.486815578593417, 1.1825373886117962, 0.3053398526902531, 0.05570526074539451],
  [11.75, 16.89437797963419, 2.4206968934226323, 0.08883052207962387, 0.001399152559523302],
  [12.0, 17.502307845873887, 2.442661679975812, 0.08690187287176838, 0.001310093231070826],
  [40.5, 108.47307506906539, 3.6889054929332334, 0.02499869820135674, 3.124023971065594e-5],
  [10000.0, 82099.71749644238, 9.210290371142849, 0.00010000500016666666, 2.00030002e-12],
];
const points = table.map(([x]) => x);
const functions: readonly ((x: Tensor) => Tensor)[] = [
  logGamma,
  gradEach((x) => logGamma(x)),
  (x) => polygamma(1, x),
  gradEach(gradEach((x) => polygamma(1, x))),
];

describe("log Γ, ψ₀, ψ₁ and ψ₃", () => {
  it.each([
    ["reference", "float64", 4e-15],
    ["cpu", "float64", 4e-15],
    ["cpu", "float32", 3e-6],
  ] as const)(
    "on device %s in %s have errors below %s of max(1, |f|)",
    async (device, type, tolerance) => {
      const f = compile((x: Tensor) => functions.map((g) => g(x)), [[points.length]], {
        device,
        type,
      });
      const found = await f(points).finally(() => f.dispose());
      table.forEach(([x, ...values], i) => {
        values.forEach((value, k) => {
          const error =
            Math.abs((found[k].data[i] as number) - value) / Math.max(1, Math.abs(value));
          expect(error, `function ${k} at ${x}`).toBeLessThanOrEqual(tolerance);
        });
      });
    },
  );

  it.each(["reference", "cpu"] as const)(
    "on device %s have their limits at 0 and infinity, and are NaN below 0",
    async (device) => {
      const f = compile((x: Tensor) => functions.slice(0, 3).map((g) => g(x)), [[5]], {
        device,
        type: "float64",
      });
      const found = await f([0, Number.POSITIVE_INFINITY, -0.5, -20.5, Number.NaN]).finally(() =>
        f.dispose(),
      );
      const [inf, none] = [Number.POSITIVE_INFINITY, Number.NaN];
      expect(found.map(({ data }) => Array.from(data as Float64Array))).toEqual([
        [inf, inf, none, none, none],
        [-inf, inf, none, none, none],
        [inf, 0, none, none, none],
      ]);
    },
  );

  it("refuses a derivative of order one half", () => {
    expect(() => polygamma(0.5, 1)).toThrow(
      /polygamma: the order is 0.5. Give an integer of at least 0/,
    );
  });
});
