/** The task of the page of posteriors: sample chains with reports of progress, then predict. */
import {
  type ChainState,
  type ChainStore,
  chainsOf,
  elementNames,
  type Posterior,
  posteriorPredictive,
  type StatementModel,
  samplePosterior,
} from "diffeo/mcmc";
import { fold, key } from "diffeo/random";
import { task } from "../../shell/rpc.ts";
import { readData, readModel } from "./read.ts";
import {
  type Answer,
  CHAINS,
  type Predicted,
  type Progress,
  type Quantity,
  type RunRequest,
  STAGES,
  WARMUP,
} from "./shapes.ts";

/** Maximum number of rows of the summary, and of quantities with pictures. */
const [MOST_ROWS, MOST_PICTURES] = [60, 6];

/** Maximum number of observations in the picture of a prediction. */
const MOST_OBSERVED = 120;

function progressOf(posterior: Posterior, drawn: number): Progress {
  const rows = Object.entries(posterior.summary()).map(([name, of]) => ({
    name,
    mean: of.mean,
    sd: of.sd,
    q5: of.q5,
    q95: of.q95,
    ess: Math.min(of.bulkEss, of.tailEss),
    rhat: of.rhat,
  }));
  const all = Object.entries(posterior.draws).flatMap(([name, draws]) =>
    elementNames(name, draws.shape.slice(2)).map((element, i) => ({ element, draws, i })),
  );
  const worst = rows
    .filter(({ sd }) => sd > 0)
    .toSorted((a, b) => a.ess - b.ess)
    .slice(0, MOST_PICTURES);
  const quantities = worst.flatMap(({ name }): Quantity[] => {
    const found = all.find(({ element }) => element === name);
    return found ? [{ name, chains: chainsOf(found.draws, found.i) }] : [];
  });
  return { drawn, rows: rows.slice(0, MOST_ROWS), quantities };
}

async function predictions(
  model: StatementModel,
  posterior: Posterior,
  seed: number,
): Promise<Predicted[]> {
  const drawn = await posteriorPredictive(model, posterior, {
    key: fold(key(seed), "predict"),
    device: "wasm",
  });
  return Object.entries(drawn).flatMap(([name, { shape, data }]): Predicted[] => {
    const known = posterior.data[name];
    const size = shape.slice(2).reduce((a, b) => a * b, 1);
    if (!known || known.data.length !== size) return [];
    const count = data.length / size;
    const columns = Array.from({ length: Math.min(size, MOST_OBSERVED) }, (_, i) =>
      Float64Array.from({ length: count }, (_, d) => data[d * size + i]).sort(),
    );
    const at = (share: number): number[] =>
      columns.map((column) => column[Math.floor(share * (count - 1))]);
    const observed = columns.map((_, i) => Number(known.data[i]));
    return [{ name, observed, low: at(0.05), middle: at(0.5), high: at(0.95) }];
  });
}

export const run = task<RunRequest, Progress, Answer>(
  async ({ model: text, data, seed }, context) => {
    const begun = performance.now();
    const [model, given] = [readModel(text), readData(data)];
    let kept: readonly ChainState[] | undefined;
    const store: ChainStore = {
      load: async () => kept,
      save: async (states) => {
        kept = states;
      },
      every: Number.POSITIVE_INFINITY,
    };
    let posterior: Posterior | undefined;
    // Each longer run resumes the chains of the one before.
    for (const draws of STAGES) {
      posterior = await samplePosterior(model, {
        key: key(seed),
        data: given,
        chains: CHAINS,
        warmup: WARMUP,
        draws,
        device: "wasm",
        store,
        signal: context.signal,
      });
      context.report(progressOf(posterior, draws));
    }
    const last = posterior as Posterior;
    return {
      warnings: last.warnings(),
      predicted: await predictions(model, last, seed),
      seconds: (performance.now() - begun) / 1000,
    };
  },
);
