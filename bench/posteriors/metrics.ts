/**
 * The metrics of chains on nineteen published posteriors: 4 chains of 1,000 draws after 1,000 of
 * warm-up, both included in the time. Three runs of each metric in turns in one process that has
 * already run the model; one run of accel_gp, which takes a minute.
 */
import { type MetricName, samplePosterior } from "diffeo/mcmc";
import { key } from "diffeo/random";
import { modelOf, names, referenceOf, settings } from "./agree.ts";
import { markdown, processorSeconds, recorded } from "./records.ts";

const compared: readonly MetricName[] = ["diagonal", "dense", "low-rank"];

interface Measured {
  readonly ess: number;
  readonly seconds: number;
  readonly gradients: number;
  readonly diverged: number;
  readonly rhat: number;
}

const seedsOf = (name: string): readonly number[] => (name === "accel_gp" ? [7] : [7, 8, 9]);

/** Runs of a model after a first run that compiles it. */
async function runsOf(name: string) {
  const model = await modelOf(name);
  const { data } = referenceOf(name);
  const { targetAcceptance } = settings[name] ?? {};
  const sample = (metric: MetricName, seed: number, length: { draws?: number; warmup?: number }) =>
    samplePosterior(model, {
      key: key(seed),
      data,
      metric,
      device: "wasm",
      ...length,
      ...(targetAcceptance && { targetAcceptance }),
    });
  for (const metric of compared) await sample(metric, 1, { draws: 20, warmup: 60 });
  return async (metric: MetricName, seed: number): Promise<Measured> => {
    const begun = processorSeconds();
    const posterior = await sample(metric, seed, {});
    const seconds = processorSeconds() - begun;
    const rows = Object.values(posterior.summary()).filter(({ sd }) => sd > 0);
    const { chains } = posterior;
    const sum = (of: (chain: (typeof chains)[number]) => Iterable<number>): number =>
      chains.reduce((total, chain) => total + [...of(chain)].reduce((a, b) => a + b, 0), 0);
    return {
      ess: Math.min(...rows.map(({ bulkEss, tailEss }) => Math.min(bulkEss, tailEss))),
      rhat: Math.max(...rows.map(({ rhat }) => rhat)),
      seconds,
      gradients: sum(({ leaves }) => leaves),
      diverged: sum(({ diverged }) => diverged),
    };
  };
}

/** The sums over all seeds: a rate is the ratio of two sums. */
function together(runs: readonly Measured[]): Measured {
  const sum = (of: (run: Measured) => number): number => runs.reduce((a, run) => a + of(run), 0);
  return {
    ess: sum(({ ess }) => ess) / runs.length,
    seconds: sum(({ seconds }) => seconds) / runs.length,
    gradients: sum(({ gradients }) => gradients) / runs.length,
    diverged: sum(({ diverged }) => diverged),
    rhat: Math.max(...runs.map(({ rhat }) => rhat)),
  };
}

export async function metrics(only: readonly string[] = names): Promise<string> {
  const rows: string[][] = [];
  for (const name of names.filter((each) => only.includes(each))) {
    const found = await recorded(`metrics-${name}`, async () => {
      const run = await runsOf(name);
      const runs = new Map<MetricName, Measured[]>(compared.map((metric) => [metric, []]));
      for (const seed of seedsOf(name))
        for (const metric of compared) runs.get(metric)?.push(await run(metric, seed));
      return Object.fromEntries([...runs].map(([metric, own]) => [metric, together(own)]));
    });
    const rate = (metric: MetricName): number => found[metric].ess / found[metric].seconds;
    rows.push([
      name,
      ...compared.map(
        (metric) => `${found[metric].ess.toFixed(0)} / ${found[metric].seconds.toFixed(2)} s`,
      ),
      (rate("low-rank") / rate("diagonal")).toFixed(2),
      (rate("low-rank") / rate("dense")).toFixed(2),
      compared.map((metric) => found[metric].diverged).join(", "),
    ]);
  }
  return markdown(
    [
      "posterior",
      ...compared.map((metric) => `${metric}: least ESS / time`),
      "low-rank / diagonal",
      "low-rank / dense",
      "divergences",
    ],
    rows,
  );
}
