/**
 * Training of the network of words (`words.ts`): rows of which some parts are masked, and the
 * log-probability of what is. In half of the rows, each part is known with a probability that is
 * itself sampled uniformly. In the other half, the parts before a random place are known, as when
 * rows are sampled in order. With m parts masked
 *
 *   loss = (1/m) Σ_{masked parts} −log p̂(part)
 *
 * which is least where all conditionals are right. A label and the number that only one of its
 * values has are one step: p̂(label) p̂(number), both given the same. For other parts of n > 1
 * sites only the first site is in the sum, except for one part, which is known up to its site j, as
 * when it is sampled: −n log p̂(siteⱼ), j uniform. Missing values are masked and in no sum.
 */
import {
  concat,
  div,
  logSumExp,
  mul,
  type NdArray,
  slice,
  sub,
  sum,
  type Tensor,
} from "diffeo/graph";
import { fold, integers, type Key, uniform } from "diffeo/random";
import { binsOfValues, cellFinder } from "../encode/index.ts";
import {
  type Coordinates,
  hiddenFrom,
  NO_LEVEL,
  numberCoordinates,
  readWords,
  type TableBins,
  type WordRows,
  type Words,
  wordsOf,
  writeInput,
} from "../network/index.ts";
import { trainTask } from "./train.ts";
import type { NetworkTraining, Trained } from "./training-options.ts";
import { MASKED_BATCH as BATCH } from "./usual-steps.ts";

/** The share of rows in which all parts from a random place on are masked. */
const IN_ORDER = 0.5;

/**
 * The largest learning rate: with half of it, trees separated synthetic rows of Magic from real
 * ones more often (scores of .852 and .895).
 */
const RATE = 4e-3;

/** The bins of numbers in z. */
export function binsOf({ domain, atoms = {} }: Coordinates, z: Float64Array): TableBins {
  const n = domain.dimension;
  return Object.fromEntries(
    numberCoordinates(domain, atoms).map((i) => {
      const part = domain.parts.findLast(({ at }) => at.x <= i);
      const values = Float64Array.from({ length: z.length / n }, (_, row) => z[row * n + i]);
      return [String(i), binsOfValues(values, part && cellFinder(part))];
    }),
  );
}

interface Source {
  readonly words: Words;
  readonly rows: WordRows;
}

/** Which parts of a row are known, and the one that is known up to a site of it. */
function maskOf(there: readonly boolean[], u: Float64Array) {
  const [inOrder, share, pick] = u;
  const parts = there.flatMap((isThere, k) => (isThere ? [k] : []));
  const known =
    inOrder < IN_ORDER
      ? parts.slice(0, Math.floor(share * parts.length))
      : parts.filter((k) => u[3 + k] < share);
  // At least one part is masked.
  if (known.length === parts.length) known.splice(Math.floor(pick * parts.length), 1);
  const masked = parts.filter((k) => !known.includes(k));
  const current = inOrder < IN_ORDER ? masked[0] : masked[Math.floor(pick * masked.length)];
  return { known, masked, current };
}

/** Whether all sites of a part are sampled from what is known before the first. */
const isOneStep = (sites: Words["sites"], own: readonly number[]): boolean =>
  own.slice(1).every((s) => hiddenFrom(sites[s]) !== undefined);

/** A batch: inputs, the weights of all logits as targets, and those of the sites. */
function batchOf({ words, rows }: Source, key: Key): NdArray[] {
  const { sites, sitesOf, logitAt, inputs, outputs } = words;
  const n = sites.length;
  const chosen = integers(fold(key, "rows"), BATCH, 0, rows.logDensity.length).data;
  const width = sitesOf.length + 4;
  const u = uniform(fold(key, "masks"), [BATCH, width], { dtype: "float64" }).data;
  const x = new Float32Array(BATCH * inputs);
  const targets = new Float32Array(BATCH * outputs);
  const weights = new Float32Array(BATCH * n);
  for (let b = 0; b < BATCH; b++) {
    const i = chosen[b];
    const own = sitesOf.map((list) => list.filter((s) => rows.values[i * n + s] >= 0));
    const cut = u[b * width];
    const { known, masked, current } = maskOf(
      own.map((list) => list.length > 0),
      u.subarray(b * width + 1, (b + 1) * width),
    );
    const isKnown = new Uint8Array(n);
    for (const k of known) for (const s of own[k]) isKnown[s] = 1;
    const learn = (s: number, weight: number): void => {
      weights[b * n + s] = weight;
      targets[b * outputs + logitAt[s] + rows.values[i * n + s]] = weight;
    };
    for (const k of masked) {
      const list = sitesOf[k];
      if (isOneStep(sites, list)) {
        for (const s of own[k]) learn(s, 1 / masked.length);
        continue;
      }
      if (k !== current) {
        learn(list[0], 1 / masked.length);
        continue;
      }
      const j = Math.floor(cut * list.length);
      for (const s of list.slice(0, j)) isKnown[s] = 1;
      learn(list[j], list.length / masked.length);
    }
    writeInput(words, rows, i, (s) => isKnown[s] === 1, x.subarray(b * inputs, (b + 1) * inputs));
  }
  const array = (data: Float32Array): NdArray => ({
    shape: [BATCH, data.length / BATCH],
    dtype: "float32",
    data,
  });
  return [x, targets, weights].map(array);
}

/** Σ_s w_s log Σ_k e^{logits of s} − Σ targets · logits, the mean over rows. */
function crossEntropy(
  { sizes, logitAt }: Words,
  logits: Tensor,
  targets: Tensor,
  weights: Tensor,
): Tensor {
  const sums = concat(
    sizes.map((size, s) =>
      logSumExp(slice(logits, null, [logitAt[s], logitAt[s] + size]), -1, { keepDims: true }),
    ),
    -1,
  );
  return div(sub(sum(mul(sums, weights)), sum(mul(logits, targets))), BATCH);
}

/** Trains the network of words on points z, and measures on others. */
export function trainMasked(
  { domain, atoms = {}, bins }: Coordinates & { readonly bins: TableBins },
  z: Float64Array,
  held: Float64Array,
  options: NetworkTraining,
): Promise<Trained> {
  const words = wordsOf(domain, atoms, bins);
  const sourceOf = (points: Float64Array): Source => ({
    words,
    rows: readWords(words, points, domain.dimension),
  });
  const [seen, unseen] = [sourceOf(z), sourceOf(held)];
  const { inputs: channels, outputs, sites } = words;
  const { width = 192, blocks = 2 } = options;
  return trainTask(
    {
      network: { kind: "residual", channels, outputs, width, blocks, time: 1 },
      rows: z.length / domain.dimension,
      batchSize: BATCH,
      shapes: [
        [BATCH, channels],
        [BATCH, outputs],
        [BATCH, sites.length],
      ],
      loss: (network, [x, targets, weights]) =>
        crossEntropy(words, network(x, NO_LEVEL), targets, weights),
      batch: (key) => batchOf(seen, key),
      held: (key) => batchOf(unseen, key),
    },
    {
      ...{ keep: "last", ...options },
      rate: options.rate ?? RATE,
      patience: options.patience ?? Number.POSITIVE_INFINITY,
    },
  );
}
