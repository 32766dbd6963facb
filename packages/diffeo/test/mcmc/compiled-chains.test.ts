/**
 * Transitions in a module give the same numbers to rounding as transitions step by step, from the
 * same random numbers.
 */
import { describe, expect, it } from "vitest";
import {
  add,
  exp,
  log,
  mul,
  slice,
  square,
  squaredNorm,
  squeeze,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import type { ChainOptions } from "../../src/mcmc/chain-settings.ts";
import { openChains } from "../../src/mcmc/chains.ts";
import type { Chain } from "../../src/mcmc/index.ts";
import { fold, key, normal } from "../../src/random/index.ts";

const column = (x: Tensor, i: number): Tensor => squeeze(slice(x, null, [i, i + 1]), -1);

/** A curved density: x₁ ~ N(0, 1), x_{i+1} | x_i ~ N(x_i²/4, 1). */
const banana = (x: Tensor): Tensor => {
  const n = x.shape[1];
  const first = mul(square(column(x, 0)), -0.5);
  if (n === 1) return first;
  const before = slice(x, null, [0, n - 1]);
  const rest = sub(slice(x, null, [1, n]), mul(square(before), 0.25));
  return add(first, mul(squaredNorm(rest), -0.5));
};

/** A funnel, and beyond 3 the logarithm of a negative number. */
const funnel = (x: Tensor): Tensor => {
  const v = column(x, 0);
  const rest = sum(square(slice(x, null, [1, x.shape[1]])), -1);
  const cut = mul(log(sub(3, v)), 1e-3);
  return add(
    add(mul(square(v), -0.5), cut),
    add(mul(mul(rest, exp(mul(v, -2))), -0.5), mul(v, -2)),
  );
};

const start = (chains: number, n: number): Float64Array =>
  normal(key("start"), [chains, n], { dtype: "float64" }).data.map((z) => z / 4);

async function drawn(
  logDensity: (x: Tensor) => Tensor,
  n: number,
  options: ChainOptions,
  device: string | undefined,
  chains = 3,
): Promise<Chain[]> {
  const opened = openChains({ size: n, logDensity }, chains, { ...options, device });
  return opened.draw(start(chains, n), { key: key(1) }).finally(() => opened.dispose());
}

const parts = ["x", "value", "energy", "acceptance", "depth", "leaves", "diverged"] as const;

function farthest(some: readonly Chain[], others: readonly Chain[]): number {
  let worst = 0;
  for (const [c, chain] of some.entries())
    for (const part of parts)
      chain[part].forEach((v, i) => {
        const other = others[c][part][i];
        worst = Math.max(worst, Math.abs(v - other) / Math.max(1, Math.abs(other)));
      });
  return worst;
}

describe("a transition in a module", () => {
  const methods = ["nuts", "hmc", "mala", "ula"] as const;
  it.each(
    methods.flatMap((m) =>
      (["diagonal", "low-rank", "dense"] as const).map((metric) => [m, metric] as const),
    ),
  )("equals that of the host: %s, %s", async (method, metric) => {
    // One number and two, and loops that are not written out.
    for (const n of [1, 2, 5, 21]) {
      const options = { method, metric, warmup: 0, draws: 3, stepSize: 0.3, steps: 3 };
      const [module, host] = [
        await drawn(banana, n, options, undefined),
        await drawn(banana, n, options, "reference"),
      ];
      expect(module[0].leaves).toEqual(host[0].leaves);
      expect(farthest(module, host), `n = ${n}`).toBeLessThan(1e-11);
    }
  });

  it("adapts like the host, and searches the same step sizes", async () => {
    for (const metric of ["diagonal", "low-rank", "dense", "unit"] as const) {
      const options = { metric, warmup: 24, draws: 1, method: "mala" as const };
      const [module, host] = [
        await drawn(banana, 3, options, "wasm"),
        await drawn(banana, 3, options, "reference"),
      ];
      module.forEach((chain, c) => {
        expect(chain.stepSize / host[c].stepSize).toBeCloseTo(1, 8);
        chain.inverseMass.forEach((v, i) => {
          expect(v).toBeCloseTo(host[c].inverseMass[i], 8);
        });
      });
    }
  });

  it("stops at the maximal depth, and diverges like the host, also at points without a density", async () => {
    const shallow = { warmup: 0, draws: 6, stepSize: 0.01, maxDepth: 3 };
    const deep = await drawn(banana, 2, shallow, undefined);
    expect([...deep[0].leaves]).toEqual([7, 7, 7, 7, 7, 7]);
    expect([...deep[0].depth]).toEqual([3, 3, 3, 3, 3, 3]);
    for (const method of ["nuts", "hmc"] as const) {
      const coarse = { method, warmup: 0, draws: 40, stepSize: 1.1, steps: 4 };
      const [module, host] = [
        await drawn(funnel, 3, coarse, undefined, 2),
        await drawn(funnel, 3, coarse, "reference", 2),
      ];
      expect(module.some(({ diverged }) => diverged.includes(1))).toBe(true);
      expect(module.some(({ undefinedCount }) => undefinedCount > 0)).toBe(true);
      module.forEach((chain, c) => {
        expect(chain.undefinedCount).toBe(host[c].undefinedCount);
        chain.undefinedAt?.forEach((v, i) => {
          expect(v).toBeCloseTo(host[c].undefinedAt?.[i] as number, 8);
        });
      });
    }
  });

  it("is a function of the chain's key alone", async () => {
    const options = { warmup: 60, draws: 40 };
    const [three, eight] = [
      await drawn(banana, 4, options, undefined, 3),
      await drawn(banana, 4, options, undefined, 8),
    ];
    expect(eight.slice(0, 3)).toEqual(three);
    expect(three[0].x).not.toEqual(three[1].x);
  });

  it("has the numbers of its stream", async () => {
    // A step of no length keeps the point; H is then ½z² of the momentum that was drawn.
    const flat = { method: "mala" as const, warmup: 0, draws: 4, stepSize: 1e-300 };
    const [{ energy }] = await drawn((x) => mul(squaredNorm(x), 0), 1, flat, "reference", 1);
    const [module] = await drawn((x) => mul(squaredNorm(x), 1e-300), 1, flat, undefined, 1);
    module.energy.forEach((h, i) => {
      const stream = fold(fold(fold(key(1), 0), "transition"), i);
      const [z] = normal(fold(stream, "momentum"), [1], { dtype: "float64" }).data;
      expect(h).toBe(0.5 * z * z);
      expect(h).toBe(energy[i]);
    });
  });
});
