/**
 * Simulation-based calibration of five hierarchical models, 512 datasets each: ranks of the true
 * values of all parameters (`calibrate` of diffeo/mcmc).
 */
import {
  bernoulli,
  beta,
  binomial,
  gamma,
  halfNormal,
  lkj,
  multivariateNormal,
  normal,
  poisson,
} from "diffeo/distribution";
import { add, at, cholesky, expandDims, mul, sub, take } from "diffeo/graph";
import { calibrate, type Data, model, type StatementModel } from "diffeo/mcmc";
import { key } from "diffeo/random";
import { markdown, processorSeconds, recorded } from "./records.ts";

const group = Array.from({ length: 30 }, (_, i) => i % 6);
const x = group.map((_, i) => Math.sin(1.7 * i));

interface Case {
  readonly model: StatementModel;
  readonly data: Data;
}

const cases: Readonly<Record<string, Case>> = {
  "varying intercepts": {
    data: { group, x },
    model: model(({ parameter, observe }, data) => {
      const mu = parameter("mu", normal(0, 1));
      const tau = parameter("tau", halfNormal(1));
      const a = parameter("a", normal(mu, tau), { shape: 6, centred: false });
      const b = parameter("b", normal(0, 1));
      const sigma = parameter("sigma", halfNormal(1));
      observe("y", normal(add(take(a, data.group), mul(b, data.x)), sigma));
    }),
  },
  "varying intercepts, yes or no": {
    data: { group, x },
    model: model(({ parameter, observe }, data) => {
      const mu = parameter("mu", normal(0, 1));
      const tau = parameter("tau", halfNormal(1));
      const a = parameter("a", normal(mu, tau), { shape: 6, centred: false });
      const b = parameter("b", normal(0, 1));
      observe("y", bernoulli({ logit: add(take(a, data.group), mul(b, data.x)) }));
    }),
  },
  "varying slopes with a correlation": {
    data: { group, x },
    model: model(({ parameter, observe }, data) => {
      const R = parameter("R", lkj(2, 2));
      const scale = parameter("scale", halfNormal(1), { shape: 2 });
      const L = mul(cholesky(R), expandDims(scale, -1));
      const mu = parameter("mu", normal(0, 1), { shape: 2 });
      const ab = parameter("ab", multivariateNormal({ mean: mu, cholesky: L }), { shape: 6 });
      const own = take(ab, data.group);
      observe("y", normal(add(at(own, 0, -1), mul(at(own, 1, -1), data.x)), 0.5));
    }),
  },
  "rates of counts": {
    data: { group },
    model: model(({ parameter, observe }, data) => {
      const shape = parameter("shape", gamma(4, 2));
      const rate = parameter("rate", gamma(4, 2));
      const lambda = parameter("lambda", gamma(shape, rate), { shape: 6 });
      observe("n", poisson(take(lambda, data.group)));
    }),
  },
  "shares of trials": {
    data: { trials: [5, 8, 12, 20, 3, 9] },
    model: model(({ parameter, observe }, data) => {
      const share = parameter("share", beta(2, 2));
      const weight = parameter("weight", gamma(3, 0.3));
      const p = parameter("p", beta(mul(share, weight), mul(sub(1, share), weight)), { shape: 6 });
      observe("n", binomial(data.trials, p));
    }),
  },
};

interface Found {
  readonly datasets: number;
  readonly p: Readonly<Record<string, number>>;
  readonly diverged: number;
  readonly seconds: number;
}

const DATASETS = 512;

async function calibrated(name: string): Promise<Found> {
  const begun = processorSeconds();
  const { ranks, datasets, diverged } = await calibrate(cases[name].model, {
    key: key(name),
    data: cases[name].data,
    datasets: DATASETS,
    thin: 4,
    targetAcceptance: 0.95,
    onRound: (done, of) => process.stderr.write(`${name}: ${done} of ${of}\n`),
  });
  // The diagonal of a correlation matrix is constant and has no rank.
  const p = Object.fromEntries(
    Object.entries(ranks)
      .filter(([element]) => !/^R\[(\d),\1\]$/.test(element))
      .map(([element, own]) => [element, own.p]),
  );
  return { datasets, p, diverged, seconds: processorSeconds() - begun };
}

export async function hierarchies(only: readonly string[] = Object.keys(cases)): Promise<string> {
  const rows: string[][] = [];
  for (const name of Object.keys(cases).filter((each) => only.includes(each))) {
    const file = `hierarchy-${name.replaceAll(/[ ,]+/g, "-")}`;
    const found = await recorded(file, () => calibrated(name));
    const sorted = Object.entries(found.p).toSorted(([, a], [, b]) => a - b);
    const [[least, p]] = sorted;
    rows.push([
      name,
      String(found.datasets),
      String(sorted.length),
      `${p.toFixed(3)} (${least})`,
      (1 - (1 - p) ** sorted.length).toFixed(2),
      String(found.diverged),
      found.seconds.toFixed(0),
    ]);
  }
  return markdown(
    [
      "model",
      "datasets",
      "numbers",
      "least p",
      "as the least of so many",
      "divergences",
      "seconds",
    ],
    rows,
  );
}
