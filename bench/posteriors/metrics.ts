/**
 * The metrics of chains on nineteen published posteriors: 4 chains of 1,000 draws after 1,000 of
 * warm-up, all of it timed, three metrics after one another in one process.
 */
import { approximate, type MetricName, type PosteriorModel, samplePosterior } from "diffeo/mcmc";
import { key } from "diffeo/random";
import { names, modelOf, referenceOf, settings } from "./agree.ts";
import { markdown, processorSeconds, recorded } from "./records.ts";

const compared: readonly MetricName[] = ["diagonal", "dense", "low-rank"];

interface Measured {
  readonly ess: number;
  readonly seconds: number;
  readonly gradients: number;
  readonly diverged: number;
  readonly rhat: number;
}

async function measured(model: PosteriorModel, name: string, metric: MetricName): Promise<Measured> {
  const { data } = referenceOf(name);
  const { targetAcceptance, approximated } = settings[name] ?? {};
  const start = approximated && (await approximate(model, { key: key(2026), data }));
  const begun = processorSeconds();
  const posterior = await samplePosterior(model, {
    key: key(7),
    data,
    metric,
    device: "wasm",
    ...(targetAcceptance && { targetAcceptance }),
    ...(start && { start }),
  });
  const seconds = processorSeconds() - begun;
  const rows = Object.values(posterior.summary()).filter(({ sd }) => sd > 0);
  const sum = (of: (chain: (typeof posterior.chains)[number]) => Iterable<number>): number =>
    posterior.chains.reduce((total, chain) => total + [...of(chain)].reduce((a, b) => a + b, 0), 0);
  return {
    ess: Math.min(...rows.map(({ bulkEss, tailEss }) => Math.min(bulkEss, tailEss))),
    rhat: Math.max(...rows.map(({ rhat }) => rhat)),
    seconds,
    gradients: sum(({ leaves }) => leaves),
    diverged: sum(({ diverged }) => diverged),
  };
}

export async function metrics(only: readonly string[] = names): Promise<string> {
  const rows: string[][] = [];
  for (const name of names.filter((each) => only.includes(each))) {
    const found = await recorded(`metrics-${name}`, async () => {
      const model = await modelOf(name);
      const each: [MetricName, Measured][] = [];
      for (const metric of compared) each.push([metric, await measured(model, name, metric)]);
      return Object.fromEntries(each) as Record<MetricName, Measured>;
    });
    const rate = (metric: MetricName): number => found[metric].ess / found[metric].seconds;
    rows.push([
      name,
      ...compared.map((metric) => `${found[metric].ess.toFixed(0)} / ${found[metric].seconds.toFixed(2)} s`),
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
