/**
 * Nineteen published posteriors (examples/posteriors) compared with their reference draws: means in
 * standard errors of both sides, standard deviations, R̂, divergences.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { type PosteriorModel, type Summary, samplePosterior } from "diffeo/mcmc";
import { key } from "diffeo/random";
import { readReference } from "../../packages/diffeo/test/mcmc/posteriors.ts";
import { keptChains, markdown, recorded } from "./records.ts";

const MODELS = new URL("../../examples/posteriors/", import.meta.url);

interface Setting {
  readonly targetAcceptance?: number;
  readonly warmup?: number;
  /** Quantities without a variance, compared by the mean and the sd of their logarithms. */
  readonly logs?: Readonly<Record<string, { readonly mean: number; readonly sd: number }>>;
}

/** Smaller steps if the reference draws used smaller steps. */
export const settings: Readonly<Record<string, Setting>> = {
  eight_schools: { targetAcceptance: 0.95 },
  gp_regr: { targetAcceptance: 0.95 },
  accel_gp: { targetAcceptance: 0.9 },
  lotka_volterra: { targetAcceptance: 0.95 },
  one_comp_mm_elim_abs: {
    targetAcceptance: 0.95,
    logs: { K_m: { mean: -0.0729, sd: 1.4296 }, V_m: { mean: -0.075, sd: 0.2902 } },
  },
};

export const folder =
  ["../shared/data/posteriors", "shared/data/posteriors"].find(existsSync) ??
  "shared/data/posteriors";
export const referenceOf = (name: string) => readReference(join(folder, `${name}.json`));

export async function modelOf(name: string): Promise<PosteriorModel> {
  const { default: model } = (await import(`${MODELS}${name}.ts`)) as {
    readonly default: PosteriorModel;
  };
  return model;
}

interface Agreement {
  readonly numbers: number;
  /** The largest |z| of a mean, with the errors of both sides, and its quantity. */
  readonly z: number;
  readonly worstMean: string;
  /** The largest |sd/reference − 1|, and its quantity. */
  readonly spread: number;
  readonly worstSpread: string;
  readonly rhat: number;
  readonly ess: number;
  readonly diverged: number;
  readonly gradients: number;
  /** Processor seconds, which exclude other work on the machine. */
  readonly seconds: number;
}

const DRAWS = 2500;

async function agreement(name: string): Promise<Agreement> {
  const { data, reference } = referenceOf(name);
  const { logs = {}, ...setting } = settings[name] ?? {};
  const model = await modelOf(name);
  const { store, seconds } = await keptChains(name, DRAWS);
  const posterior = await samplePosterior(model, {
    key: key(2026),
    data,
    draws: DRAWS,
    device: "wasm",
    ...setting,
    store,
  });
  const summary = posterior.summary();
  const rows = Object.entries(reference)
    .filter(([element]) => element !== "draws")
    .map(([element, known]) => {
      const found = summary[element];
      return { element, found, ...compared(found, logs[element] ?? known, element in logs) };
    });
  const most = (of: (row: (typeof rows)[number]) => number) =>
    rows.toSorted((a, b) => of(b) - of(a))[0];
  const total = (of: (chain: (typeof posterior.chains)[number]) => Iterable<number>): number =>
    posterior.chains.reduce((sum, chain) => sum + [...of(chain)].reduce((a, b) => a + b, 0), 0);

  /** The published draws are nearly independent: 10,000 of them. */
  function compared(found: Summary, known: { mean: number; sd: number }, logarithm: boolean) {
    if (!logarithm)
      return {
        z: Math.abs(found.mean - known.mean) / Math.hypot(found.meanError, known.sd / 100),
        spread: Math.abs(found.sd / known.sd - 1),
      };
    const name = Object.keys(logs).find((own) => summary[own] === found) as string;
    const values = posterior.draws[name].data.map(Math.log);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const sd = Math.sqrt(values.reduce((s, v) => s + (v - mean) ** 2, 0) / values.length);
    // Logarithms have the same ranks, and so the same effective size of normal scores.
    const error = Math.hypot(sd / Math.sqrt(found.bulkEss), known.sd / 100);
    return { z: Math.abs(mean - known.mean) / error, spread: Math.abs(sd / known.sd - 1) };
  }
  return {
    numbers: rows.length,
    z: most((row) => row.z).z,
    worstMean: most((row) => row.z).element,
    spread: most((row) => row.spread).spread,
    worstSpread: most((row) => row.spread).element,
    rhat: most((row) => row.found.rhat).found.rhat,
    ess: Math.min(...rows.map(({ found }) => Math.min(found.bulkEss, found.tailEss))),
    diverged: total(({ diverged }) => diverged),
    gradients: total(({ leaves }) => leaves),
    seconds: seconds(),
  };
}

export const names = readdirSync(MODELS)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => basename(file, ".ts"));

export async function agree(only: readonly string[] = names): Promise<string> {
  const rows: string[][] = [];
  for (const name of names.filter((each) => only.includes(each))) {
    const a = await recorded(`agree-${name}`, () => agreement(name));
    rows.push([
      name,
      String(a.numbers),
      `${a.z.toFixed(2)} (${a.worstMean})`,
      `${(100 * a.spread).toFixed(1)} % (${a.worstSpread})`,
      a.rhat.toFixed(4),
      a.ess.toFixed(0),
      String(a.diverged),
      a.gradients.toLocaleString("en"),
      a.seconds.toFixed(1),
    ]);
  }
  return markdown(
    [
      "posterior",
      "numbers",
      "worst \\|z\\|",
      "worst sd",
      "R̂",
      "least ESS",
      "divergences",
      "gradients",
      "seconds",
    ],
    rows,
  );
}
