/**
 * npm run bench -- map-costs: the cost of derivatives of maps by dimension: closed forms against
 * automatic differentiation of the map's three functions. Processor time of one thread per event:
 *
 *   J v         one Jacobian product
 *   ∇ log|J|    the second term of theorem 1
 *   Tr[GᵀHG]    the Itô term for G = I: all n second derivatives along the axes
 *   f̂           the drift of the reverse-time Itô lemma at a score, which takes all three
 *
 * `--most N` leaves out larger dimensions (default 128).
 */
import {
  additiveLogistic,
  type Bijector,
  catalogue,
  correlationMap,
  expMap,
  gradLogDet,
  isometricLogRatio,
  itoTrace,
  logCholesky,
  ordered,
  pushVector,
  sigmoidMap,
  softplusMap,
  stereographic,
  stickBreaking,
  tanhMap,
  unitBall,
  withoutClosedForms,
} from "diffeo/bijector";
import { compile } from "diffeo/engine";
import { constant, mul, type NdArray, type Tensor } from "diffeo/graph";
import { fold, key, normal } from "diffeo/random";
import { pushedReverseDrift, vp } from "diffeo/sde";

const DIMENSIONS = [2, 8, 32, 128];
/** The size of a batch in numbers, for every dimension. */
const NUMBERS = 4096;

/** Maps of any dimension. */
const maps: readonly Bijector[] = [
  expMap(),
  softplusMap(),
  sigmoidMap(),
  tanhMap(),
  additiveLogistic(),
  isometricLogRatio(),
  stickBreaking(),
  ordered(),
  unitBall(),
  stereographic(),
];
/** Maps on triangles of n(n + 1)/2 numbers. */
const triangles: readonly Bijector[] = [logCholesky(), correlationMap()];

type Operation = (phi: Bijector, x: Tensor, v: Tensor) => Tensor;

const sde = vp();
const operations: Readonly<Record<string, Operation>> = {
  "J v": (phi, x, v) => pushVector(phi, x, v),
  "∇ log|J|": (phi, x) => gradLogDet(phi, x),
  "Tr[GᵀHG]": (phi, x) => itoTrace(phi, x, { kind: "scalar", value: constant(1, x.dtype) }),
  f̂: (phi, x) => pushedReverseDrift(sde, phi, (z) => mul(z, -1), x, constant(0.5, x.dtype)),
};

/** Processor microseconds per event: the least of three rounds of at least 20 ms. */
async function cost(phi: Bijector, operation: Operation, x: NdArray, v: NdArray): Promise<number> {
  const run = compile((a: Tensor, b: Tensor) => operation(phi, a, b), [x.shape, v.shape], {
    device: "wasm",
    type: "float64",
  });
  await run(x, v);
  let least = Infinity;
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage();
    let [runs, spent] = [0, 0];
    while (spent < 20_000) {
      await run(x, v);
      runs++;
      const { user, system } = process.cpuUsage(before);
      spent = user + system;
    }
    least = Math.min(least, spent / runs / x.shape[0]);
  }
  await run.dispose();
  return least;
}

const show = (value: number): string => Number(value.toPrecision(2)).toString();

async function row(name: string, phi: Bijector, event: readonly number[]): Promise<void> {
  const size = event.reduce((a, b) => a * b, 1);
  const count = Math.max(8, Math.round(NUMBERS / size));
  const own = key("map-costs");
  const options = { dtype: "float64" } as const;
  const x = normal(fold(own, "x"), [count, ...event], options);
  const v = normal(fold(own, "v"), [count, ...event], options);
  const cells: string[] = [];
  for (const operation of Object.values(operations)) {
    const closed = await cost(phi, operation, x, v);
    const derived = await cost(withoutClosedForms(phi), operation, x, v);
    cells.push(`${show(closed)} (${show(derived / closed)} ×)`);
  }
  process.stdout.write(`| ${name} | ${size} | ${cells.join(" | ")} |\n`);
}

export async function run(): Promise<void> {
  const at = process.argv.indexOf("--most");
  const most = at < 0 ? 128 : Number(process.argv[at + 1]);
  process.stdout.write(
    `Processor µs per event by closed forms, and in brackets how many times as much autodiff takes; float64, one thread.\n\n| map | n | ${Object.keys(operations).join(" | ")} |\n|---|---:|---:|---:|---:|---:|\n`,
  );
  for (const phi of maps)
    for (const n of DIMENSIONS.filter((d) => d <= most)) await row(phi.name, phi, [n]);
  for (const phi of triangles)
    for (const n of [3, 10, 36].filter((d) => d <= most)) await row(phi.name, phi, [n]);
  const measured = new Set([...maps, ...triangles].map(({ name }) => name));
  for (const { name, map, event, from } of catalogue)
    if (!measured.has(map.name) && !from && map.eventRank === 1 && !map.timeDependent)
      await row(name, map, event);
}
