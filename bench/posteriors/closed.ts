/** Closed forms: the Kolmogorov–Smirnov test of 100,000 draws of every known marginal. */
import { samplePosterior } from "diffeo/mcmc";
import { key } from "diffeo/random";
import { closedForms as forms, places } from "../../packages/diffeo/test/mcmc/closed-forms.ts";
import { uniformP } from "../../packages/diffeo/test/random/statistics.ts";
import { keptChains, markdown, recorded } from "./records.ts";

/** Transitions between two draws that are used, since the test assumes independent draws. */
const EVERY = 4;
const CHAINS = 50;
const KEPT = 2000;

interface Measured {
  readonly p: Readonly<Record<string, number>>;
  readonly diverged: number;
  readonly seconds: number;
}

const fileName = (name: string): string => `closed-${name.replaceAll(/[^a-zA-Z0-9]+/g, "-")}`;

async function measured(name: string): Promise<Measured> {
  const { model, distributions } = forms[name];
  const { store, seconds } = await keptChains(fileName(name), EVERY * KEPT);
  const posterior = await samplePosterior(model, {
    key: key(name),
    chains: CHAINS,
    draws: EVERY * KEPT,
    warmup: 500,
    store,
  });
  return {
    p: Object.fromEntries(
      Object.entries(distributions).map(([distribution, { of, cdf }]) => [
        distribution,
        uniformP(places(posterior.draws[of], cdf, EVERY)),
      ]),
    ),
    diverged: posterior.chains.reduce(
      (sum, { diverged }) => sum + diverged.reduce((a, b) => a + b, 0),
      0,
    ),
    seconds: seconds(),
  };
}

export async function closedForms(only: readonly string[] = Object.keys(forms)): Promise<string> {
  const rows: string[][] = [];
  for (const name of Object.keys(forms).filter((each) => only.includes(each))) {
    const { p, diverged, seconds } = await recorded(fileName(name), () => measured(name));
    rows.push([
      name,
      Object.entries(p)
        .map(([distribution, value]) => `${distribution} ${value.toFixed(3)}`)
        .join(", "),
      String(diverged),
      seconds.toFixed(0),
    ]);
  }
  return markdown(["posterior", "p of each marginal", "divergences", "seconds"], rows);
}
