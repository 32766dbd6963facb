/**
 * Sequences: English words of 3 to 8 letters as eight sites of 27 classes, the last a blank. The
 * bits per held-out word, and the quality of samples, for
 *
 *   diffusion        a transformer on the simplex; its bits are an upper bound (`bitsPerGrid`)
 *   autoregressive   a network of similar size that predicts each letter from the previous ones
 *   n-gram           interpolated counts of up to four previous letters (Witten and Bell)
 *
 *   npx tsx --conditions=diffeo-source bench/words.ts --words /usr/share/dict/words --steps 3000
 *
 * The words are those of Debian's package wamerican; every tenth is held out. The classifier test
 * separates samples from held-out words by counts of letter trigrams (naive Bayes, cross-fitted):
 * an area of .5 is chance. `new` are samples that are words of the list outside the training set.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { bitsPerGrid, type ClassArray, sampleGrids, trainGrid } from "diffeo/categorical";
import { compile } from "diffeo/engine";
import { constant, dot, logSoftmax, mean, neg, oneHot, silu, type Tensor } from "diffeo/graph";
import { initialise, linear, linearInit, parameterCount } from "diffeo/model";
import { fold, integers, key, permutation, uniform } from "diffeo/random";
import { compileStep, flatten, initialState, rateAt, unflatten } from "diffeo/train";
import { crossFittedAuc } from "diffeo/two-sample";
import { textOptions } from "./text-options.ts";

const { values } = parseArgs({
  options: textOptions({
    words: "/usr/share/dict/words",
    steps: "3000",
    batch: "128",
    count: "2000",
    threads: "1",
  }),
});
const [SITES, BLANK, CLASSES] = [8, 26, 27];
const [steps, batch, count] = [values.steps, values.batch, values.count].map(Number);
const threads = Number(values.threads);

type Word = readonly number[];
const list = readFileSync(values.words, "utf8")
  .split("\n")
  .filter((word) => /^[a-z]{3,8}$/.test(word));
const codeOf = (word: string): Word =>
  Array.from({ length: SITES }, (_, i) => (i < word.length ? word.charCodeAt(i) - 97 : BLANK));
const textOf = (word: Word): string =>
  word.map((k) => (k === BLANK ? " " : String.fromCharCode(97 + k))).join("");
const order = Array.from(permutation(key("words"), list.length).data, (i) => codeOf(list[i]));
const held = order.filter((_, i) => i % 10 === 0);
const seen = order.filter((_, i) => i % 10 !== 0);
const flat = (words: readonly Word[]): Uint8Array => Uint8Array.from(words.flat());
const wordsOf = (classes: ClassArray): Word[] =>
  Array.from({ length: classes.length / SITES }, (_, i) => [
    ...classes.subarray(i * SITES, (i + 1) * SITES),
  ]);

/** The area under the curve of a naive Bayes classifier of letter trigrams. */
function auc(samples: readonly Word[], real: readonly Word[]): number {
  const grams = (word: Word): string[] =>
    word.map((_, i) => [word[i - 2] ?? -1, word[i - 1] ?? -1, word[i]].join());
  const tableOf = (words: readonly Word[]): Map<string, number> => {
    const table = new Map<string, number>();
    for (const gram of words.flatMap(grams)) table.set(gram, (table.get(gram) ?? 0) + 1);
    return table;
  };
  return crossFittedAuc([samples.length, real.length], key("auc"), ([first, second]) => {
    const [a, b] = [
      tableOf(Array.from(first, (i) => samples[i])),
      tableOf(Array.from(second, (i) => real[i])),
    ];
    const score = (word: Word): number =>
      grams(word).reduce(
        (sum, gram) =>
          sum +
          Math.log(((b.get(gram) ?? 0) + 0.5) / second.length) -
          Math.log(((a.get(gram) ?? 0) + 0.5) / first.length),
        0,
      );
    return ([x, y]) => [
      Array.from(x, (i) => score(samples[i])),
      Array.from(y, (i) => score(real[i])),
    ];
  });
}

const known = new Set(list.map(codeOf).map(textOf));
const trained = new Set(seen.map(textOf));
const letters = average(held.map((word) => word.filter((k) => k !== BLANK).length));
function average(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0) / numbers.length;
}
function report(
  name: string,
  bits: readonly number[],
  samples: readonly Word[],
  more: string,
): void {
  const middle = average(bits);
  const error = Math.sqrt(average(bits.map((b) => (b - middle) ** 2)) / bits.length);
  const texts = samples.map(textOf);
  const share = (of: (text: string) => boolean): string =>
    (texts.filter(of).length / texts.length).toFixed(3);
  console.log(
    `${name.padEnd(16)} ${middle.toFixed(2)} ± ${error.toFixed(2)} bits per word, ${(middle / letters).toFixed(3)} per letter; ` +
      `AUC ${auc(samples, held.slice(0, samples.length)).toFixed(3)}; words ${share((t) => known.has(t))}, ` +
      `new ${share((t) => known.has(t) && !trained.has(t))}; ${more}\n    ${texts.slice(0, 12).join(" ")}`,
  );
}

/**
 * Interpolated counts: P(k | context) = (c(k) + T P(k | shorter))/(c + T), T kinds seen after it.
 */
function ngram(most: number): (context: Word) => number[] {
  const tables = new Map<string, Map<number, number>>();
  for (const word of seen)
    for (const [i, k] of word.entries())
      for (let n = 0; n <= most; n++) {
        const context = Array.from({ length: n }, (_, j) => word[i - n + j] ?? -1).join();
        const table = tables.get(context) ?? new Map<number, number>();
        table.set(k, (table.get(k) ?? 0) + 1);
        tables.set(context, table);
      }
  return (before) => {
    let p = new Array<number>(CLASSES).fill(1 / CLASSES);
    for (let n = 0; n <= most; n++) {
      const context = Array.from({ length: n }, (_, j) => before[before.length - n + j] ?? -1);
      const table = tables.get(context.join());
      if (!table) break;
      const total = [...table.values()].reduce((a, b) => a + b, 0);
      p = p.map(
        (shorter, k) => ((table.get(k) ?? 0) + table.size * shorter) / (total + table.size),
      );
    }
    // A blank is followed by blanks only.
    return before.at(-1) === BLANK ? p.map((_, k) => (k === BLANK ? 1 : 0)) : p;
  };
}
const chosen = (p: readonly number[], u: number): number => {
  let [k, sum] = [0, p[0]];
  while (sum < u && k < p.length - 1) sum += p[++k];
  return k;
};
const noise = uniform(key("n-gram"), [count * SITES], { dtype: "float64" }).data;
for (const most of [2, 4]) {
  const predict = ngram(most);
  const bits = held.map((word) =>
    word.reduce((sum, k, i) => sum - Math.log2(predict(word.slice(0, i))[k]), 0),
  );
  const samples = Array.from({ length: count }, (_, s) => {
    const word: number[] = [];
    for (let i = 0; i < SITES; i++) word.push(chosen(predict(word), Number(noise[s * SITES + i])));
    return word;
  });
  report(`${most + 1}-gram`, bits, samples, "exact");
}

/**
 * The prefix of a word as one-hot letters and a position: [8 · 27 + 8] numbers for each position.
 */
const INPUTS = SITES * CLASSES + SITES;
const WIDTH = 352;
const source = initialise(key("autoregressive"));
const fresh = {
  first: linearInit(source.at("first"), INPUTS, WIDTH),
  second: linearInit(source.at("second"), WIDTH, WIDTH),
  head: linearInit(source.at("head"), WIDTH, CLASSES, 0.1),
};
type Net<T> = { readonly [K in keyof typeof fresh]: { readonly w: T; readonly b: T } };
const logits = (p: Net<Tensor>, x: Tensor): Tensor =>
  linear(p.head, silu(linear(p.second, silu(linear(p.first, x)))));
function prefixes(words: readonly Word[], places: readonly number[]): Float32Array {
  const out = new Float32Array(words.length * places.length * INPUTS);
  words.forEach((word, w) => {
    places.forEach((place, j) => {
      const at = (w * places.length + j) * INPUTS;
      for (let i = 0; i < place; i++) out[at + i * CLASSES + word[i]] = 1;
      out[at + SITES * CLASSES + place] = 1;
    });
  });
  return out;
}
const PLACES = Array.from({ length: SITES }, (_, i) => i);
{
  const step = compileStep(
    (p: Net<Tensor>, x: Tensor, k: Tensor) =>
      neg(mean(dot(oneHot(k, CLASSES), logSoftmax(logits(p, x))))),
    fresh,
    [[null, INPUTS], { shape: [null], dtype: "int32" }],
    { threads, emaDecay: 0.99 },
  );
  let state = initialState(fresh);
  for (let s = 1; s <= steps; s++) {
    const rows = integers(fold(key("rows"), s), [batch], 0, seen.length).data;
    const words = Array.from(rows, (i) => seen[i]);
    const rate = rateAt(s, { peak: 2e-3, warmup: 100, steps });
    const x = {
      shape: [batch * SITES, INPUTS],
      dtype: "float32",
      data: prefixes(words, PLACES),
    } as const;
    const k = {
      shape: [batch * SITES],
      dtype: "int32",
      data: Int32Array.from(words.flat()),
    } as const;
    ({ state } = await step(state, [x, k], s, rate));
  }
  await step.dispose();
  const parameters = unflatten(constant(state.ema), fresh) as Net<Tensor>;
  const predict = compile((x: Tensor) => logSoftmax(logits(parameters, x)), [[null, INPUTS]], {
    threads,
  });
  const log = await predict({
    shape: [held.length * SITES, INPUTS],
    dtype: "float32",
    data: prefixes(held, PLACES),
  });
  const bits = held.map((word, w) =>
    word.reduce((sum, k, i) => sum - Number(log.data[(w * SITES + i) * CLASSES + k]) / Math.LN2, 0),
  );
  const samples = Array.from({ length: count }, () => [] as number[]);
  for (const place of PLACES) {
    const { data } = await predict({
      shape: [count, INPUTS],
      dtype: "float32",
      data: prefixes(samples, [place]),
    });
    samples.forEach((word, s) => {
      const p = Array.from({ length: CLASSES }, (_, k) => Math.exp(Number(data[s * CLASSES + k])));
      word.push(chosen(p, Number(noise[s * SITES + place])));
    });
  }
  await predict.dispose();
  report("autoregressive", bits, samples, `${flatten(fresh).length} parameters, exact`);
}

const model = await trainGrid(flat(seen), {
  ...{ classes: CLASSES, grid: [SITES], steps, batch, threads },
  network: {
    ...{ kind: "transformer", channels: CLASSES - 1, outputs: CLASSES, grid: [SITES] },
    ...{ width: 64, layers: 4, heads: 4 },
  },
});
const bits = await bitsPerGrid(model, flat(held.slice(0, 1000)), {
  key: key("bits"),
  batch: 250,
  threads,
});
const drawn = await sampleGrids(model, {
  ...{ count, key: key("samples"), steps: 99, batch: 500, solver: "dpmSolver2MSde", threads },
});
report(
  "diffusion",
  [...bits],
  wordsOf(drawn),
  `${parameterCount(model.parameters)} parameters, a bound`,
);
