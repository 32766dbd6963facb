/**
 * Eight published posteriors beside their reference draws: means in standard errors of both sides,
 * spreads, R̂, divergences.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { samplePosterior } from "diffeo/mcmc";
import { key } from "diffeo/random";
import { models, readReference } from "../../packages/diffeo/test/mcmc/posteriors.ts";
import { keptChains, markdown, recorded } from "./records.ts";

/** Where the reference was drawn with smaller steps, so are these. */
const acceptance: Readonly<Record<string, number>> = { eight_schools: 0.95, gp_regr: 0.95 };

export const folder =
  ["../shared/data/posteriors", "shared/data/posteriors"].find(existsSync) ??
  "shared/data/posteriors";
export const referenceOf = (name: string) => readReference(join(folder, `${name}.json`));

interface Agreement {
  readonly numbers: number;
  /** The largest |z| of a mean, with both sides' errors; and whose. */
  readonly z: number;
  readonly worstMean: string;
  /** The largest |sd/reference − 1|; and whose. */
  readonly spread: number;
  readonly worstSpread: string;
  readonly rhat: number;
  readonly ess: number;
  readonly diverged: number;
  readonly gradients: number;
  /** Of a processor: other work on the machine does not count. */
  readonly seconds: number;
}

const DRAWS = 2500;

async function agreement(name: string): Promise<Agreement> {
  const { data, reference } = referenceOf(name);
  const { store, seconds } = await keptChains(name, DRAWS);
  const posterior = await samplePosterior(models[name](data), {
    key: key(2026),
    draws: DRAWS,
    targetAcceptance: acceptance[name],
    store,
  });
  const summary = posterior.summary();
  const rows = Object.entries(reference)
    .filter(([element]) => element !== "draws")
    .map(([element, known]) => {
      const found = summary[element];
      // The published draws are nearly independent: 10,000 of them.
      const z = Math.abs(found.mean - known.mean) / Math.hypot(found.meanError, known.sd / 100);
      return { element, found, z, spread: Math.abs(found.sd / known.sd - 1) };
    });
  const most = (of: (row: (typeof rows)[number]) => number) =>
    rows.toSorted((a, b) => of(b) - of(a))[0];
  const total = (of: (chain: (typeof posterior.chains)[number]) => Iterable<number>): number =>
    posterior.chains.reduce((sum, chain) => sum + [...of(chain)].reduce((a, b) => a + b, 0), 0);
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

export const names = Object.keys(models);

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
      a.seconds.toFixed(0),
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
