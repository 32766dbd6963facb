/**
 * npm run bench -- small [--graphs] [--samplers] [--check]: where the compiler is faster
 * than ONNX Runtime, and what the cost model of device cpu chooses. Processor microseconds per call
 * of a compiled function, both engines on one thread in one run; a step of samplers with a known
 * score on the simplex; seconds of the checks of all maps; by default all three. It rewrites the
 * tables of the page on performance. For one core, run it under `taskset -c 0`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { additiveLogistic, catalogue } from "diffeo/bijector";
import { checkMap } from "diffeo/check";
import { compile } from "diffeo/engine";
import {
  add,
  div,
  erf,
  exp,
  gradEach,
  log,
  matmul,
  mul,
  type NdArray,
  silu,
  sin,
  square,
  sum,
  type Tensor,
  tanh,
  trace,
} from "diffeo/graph";
import { networkOf } from "diffeo/model";
import { key, normal } from "diffeo/random";
import { openSampler } from "diffeo/sampler";
import { reversePush, vp } from "diffeo/sde";
import { lowered, predict } from "../packages/diffeo/src/engine/wasm/index.ts";
import { freeLogDensity } from "../packages/diffeo/src/mcmc/free-log-density.ts";
import { parameterSpace } from "../packages/diffeo/src/mcmc/parameters.ts";
import { models } from "../packages/diffeo/test/mcmc/posteriors.ts";
import { clusters, exactScore } from "../packages/diffeo/test/sampler/tools.ts";
import { referenceOf } from "./posteriors/agree.ts";
import { markdown, processorSeconds } from "./posteriors/records.ts";
import { median } from "./timing.ts";

const DOCUMENT = "docs/results/performance.md";
const ENGINES = ["onnxruntime", "wasm"] as const;
type Type = "float32" | "float64";

interface Case {
  readonly name: string;
  readonly f: (...x: Tensor[]) => unknown;
  readonly shapes: readonly (readonly number[])[];
  readonly types?: readonly Type[];
}

const chain = (x: Tensor): Tensor => {
  let y = x;
  for (let i = 0; i < 10; i++) y = add(mul(y, 0.5), square(x));
  return y;
};
const network = (x: Tensor, a: Tensor, b: Tensor, c: Tensor): Tensor =>
  matmul(silu(matmul(silu(matmul(x, a)), b)), c);

function posteriorCase(name: string): Case {
  const model = models[name](referenceOf(name).data);
  const space = parameterSpace(model.parameters as Parameters<typeof parameterSpace>[0]);
  const f = freeLogDensity(space, (values) => model.logDensity(values, {}), {});
  return {
    name: `${name}: log-density and gradient, 4 chains`,
    f: (x) => ({ value: f(x), slope: gradEach(f)(x) }),
    shapes: [[4, space.dimension]],
    types: ["float64"],
  };
}

function tableCase(width: number): Case {
  const { init, apply } = networkOf({ kind: "residual", channels: 6, width, blocks: 3 });
  const parameters = init(key(1));
  return {
    name: `residual network of a table, width ${width}, 10 rows`,
    f: (x, t) => apply(parameters as never, x, t),
    shapes: [[10, 6], [10]],
    types: ["float32"],
  };
}

const cases: readonly Case[] = [
  ...[10, 1000, 100_000].flatMap((n): Case[] => [
    { name: `30 operations, ${n} numbers`, f: chain, shapes: [[n]] },
    { name: `exp, ${n}`, f: exp, shapes: [[n]] },
    { name: `tanh, ${n}`, f: tanh, shapes: [[n]] },
    { name: `log(1 + x²), ${n}`, f: (x) => log(add(square(x), 1)), shapes: [[n]] },
    { name: `sin, ${n}`, f: sin, shapes: [[n]] },
    { name: `erf, ${n}`, f: erf, shapes: [[n]] },
    { name: `1/(1 + x²), ${n}`, f: (x) => div(1, add(square(x), 1)), shapes: [[n]] },
    { name: `sum, ${n}`, f: (x) => sum(x), shapes: [[n]] },
  ]),
  ...[4, 16, 64, 256].map(
    (n): Case => ({ name: `product of matrices, ${n}`, f: matmul, shapes: [[n, n], [n, n]] }), // biome-ignore format: shapes
  ),
  ...[1, 10, 100].flatMap((rows) =>
    [16, 64].map(
      (h): Case => ({
        name: `three layers of width ${h}, ${rows} rows`,
        f: network,
        shapes: [[rows, 8], [8, h], [h, h], [h, 4]], // biome-ignore format: shapes
      }),
    ),
  ),
  tableCase(64),
  tableCase(128),
  ...["eight_schools", "arK", "low_dim_gauss_mix"].map(posteriorCase),
];

/** The least processor time of a measurement in milliseconds. */
const LEAST = 8;

/** Microseconds per call: the median of three. */
async function perCall(call: () => Promise<unknown>): Promise<number> {
  await call();
  const times: number[] = [];
  for (let round = 0, count = 1; round < 3; ) {
    const began = processorSeconds();
    for (let i = 0; i < count; i++) await call();
    const spent = processorSeconds() - began;
    if (1000 * spent < LEAST) count *= 2;
    else {
      times.push((1e6 * spent) / count);
      round++;
    }
  }
  return median(times);
}

async function compare({ name, f, shapes }: Case, type: Type): Promise<string[]> {
  const args = shapes.map((shape, i): NdArray => normal(key(i), [...shape], { dtype: type }));
  const times: number[] = [];
  for (const device of ENGINES) {
    const compiled = compile(f as (...x: Tensor[]) => Tensor, shapes as never, {
      type,
      device,
      threads: 1,
    });
    times.push(await perCall(() => (compiled as (...a: NdArray[]) => Promise<unknown>)(...args)));
    await compiled.dispose();
  }
  const outputs = lowered(trace(f as (...args: never[]) => unknown, shapes, type));
  const found = outputs && predict(outputs, 1);
  const chosen = found && found.wasm <= found.onnxruntime ? 1 : 0;
  const lost = times[chosen] / Math.min(...times);
  const micro = (x: number): string => (x < 10 ? x.toFixed(1) : x.toFixed(0));
  return [
    `${name}, ${type}`,
    micro(times[0]),
    // If the compiler lacks an operation, ONNX Runtime ran both.
    outputs ? micro(times[1]) : "–",
    outputs ? (times[0] / times[1]).toFixed(2) : "–",
    ["ONNX Runtime", "compiler"][chosen] + (lost > 1.1 ? ` (× ${lost.toFixed(1)})` : ""),
  ];
}

/** Steps per second of 1,000 samples on the simplex. */
async function samplers(): Promise<string[][]> {
  const rows: string[][] = [];
  const sde = vp();
  for (const n of [2, 4])
    for (const solver of ["domainPreserving", "heun"] as const) {
      const process = reversePush(sde, additiveLogistic(), exactScore(sde, clusters(n)));
      const rates: number[] = [];
      for (const device of ["onnxruntime", "cpu"]) {
        const draw = await openSampler(process, { shape: [n], solver, device, threads: 1 });
        const time = await perCall(() => draw({ key: key(1), count: 1000, steps: 250 }));
        rates.push(2.5e8 / time);
        await draw.dispose();
      }
      const [before, after] = rates;
      rows.push([
        `${solver}, ${n} coordinates`,
        before.toFixed(0),
        after.toFixed(0),
        (after / before).toFixed(1),
      ]);
    }
  return rows;
}

/** Processor seconds of the checks of all maps. */
async function checks(): Promise<string[][]> {
  const seconds: number[] = [];
  for (const device of ["onnxruntime", "cpu"]) {
    const began = processorSeconds();
    for (const { map, event, from } of catalogue) await checkMap(map, { event, from, device });
    seconds.push(processorSeconds() - began);
  }
  return [
    [
      `checks of ${catalogue.length} maps, seconds`,
      seconds[0].toFixed(0),
      seconds[1].toFixed(0),
      (seconds[0] / seconds[1]).toFixed(2),
    ],
  ];
}

/** Puts a table between its marks in the document. */
function writeTable(part: string, table: string): void {
  process.stdout.write(`${table}\n\n`);
  const text = readFileSync(DOCUMENT, "utf8");
  const [begin, end] = [`<!-- ${part} -->`, `<!-- end of ${part} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${DOCUMENT} has no place for ${part}`);
  writeFileSync(DOCUMENT, `${text.slice(0, from + begin.length)}\n${table}\n${text.slice(to)}`);
}

/** The parts of this benchmark, by the options that choose them; without any, all. */
const PARTS = ["graphs", "samplers", "check"] as const;

export async function run(): Promise<void> {
  const chosen = PARTS.filter((part) => process.argv.includes(`--${part}`));
  const wants = (part: (typeof PARTS)[number]): boolean =>
    chosen.length === 0 || chosen.includes(part);
  if (wants("graphs")) {
    const rows: string[][] = [];
    for (const each of cases)
      for (const type of each.types ?? (["float32", "float64"] as const))
        rows.push(await compare(each, type));
    const engines = ["graph", "ONNX Runtime, µs", "compiler, µs", "ratio", "cpu takes"];
    writeTable("small", markdown(engines, rows));
  }
  const pairs = ["", "ONNX Runtime", "device cpu", "ratio"];
  if (wants("samplers")) writeTable("small samplers", markdown(pairs, await samplers()));
  if (wants("check")) writeTable("small checks", markdown(pairs, await checks()));
}
