/**
 * The predicted time of a run of a graph in microseconds, by this compiler and by ONNX Runtime:
 *
 *   wasm          call + Σ nodes (start + numbers · rate)         nothing but loops to start
 *   onnxruntime   call + Σ nodes (start + numbers · rate)         0.5 µs to start an operation
 *
 * Rates are nanoseconds per number of an operation (of a product, per multiplication), measured by
 * `npm run bench -- small` on one thread. They are constants, so that a graph runs on the same
 * engine on every machine. Predictions only need to be right if the engines differ much.
 */
import { sizeOf, type Tensor, topological } from "../../graph/index.ts";
import { constantValue, isInput } from "../../graph/tensor.ts";
import { isView } from "./affine.ts";
import { isFunction } from "./module.ts";

/** Nanoseconds of float32 and float64 numbers. */
type Rate = readonly [float32: number, float64: number];

interface Engine {
  /** Microseconds of a call, and of starting an operation. */
  readonly call: number;
  readonly start: number;
  readonly plain: Rate;
  readonly reduction: Rate;
  /** The rate of a multiplication in a matrix product. */
  readonly product: Rate;
  readonly functions: Rate;
  /** Reading and adding at indices, running sums. */
  readonly indexed: Rate;
  /** The rate per n³ of a dense n × n system. */
  readonly system: Rate;
}

const wasm: Engine = {
  call: 1.2,
  start: 0.02,
  plain: [0.2, 0.4],
  reduction: [0.2, 0.3],
  product: [0.15, 0.45],
  functions: [8, 9],
  indexed: [2, 2],
  system: [1, 1],
};

const onnxruntime: Engine = {
  call: 8.5,
  start: 0.5,
  plain: [0.4, 0.8],
  reduction: [0.1, 0.2],
  product: [0.016, 0.04],
  functions: [3, 11],
  indexed: [1, 1],
  system: [0.5, 0.5],
};

/** Operations without an ONNX operator, which are unrolled loops there: µs per row. */
const ROW = 5;

/** float64 operations that ONNX Runtime computes slowly, in nanoseconds. */
const slow: Readonly<Record<string, number>> = {
  erf: 100,
  erfc: 100,
  pow: 40,
  // Expanded in ONNX to a sum over several shifted points.
  logGamma: 150,
  polygamma: 400,
};

const last = ({ shape }: Tensor, k = 1): number => shape.at(-k) ?? 1;

/** Nanoseconds of a node, without its start. */
function workOf(t: Tensor, engine: Engine): number {
  const { name } = t.op;
  const size = sizeOf(t.shape);
  const wide = [t, ...t.inputs].some(({ dtype }) => dtype === "float64") ? 1 : 0;
  const of = (rate: Rate, numbers = size): number => rate[wide] * numbers;
  const given = t.inputs[0] ?? t;
  switch (name) {
    case "matmul":
      return of(engine.product, size * last(given));
    case "sum":
    case "max":
      return of(engine.reduction, sizeOf(given.shape));
    case "take":
    case "takeAlong":
    case "cumsum":
    case "argmax":
      return of(engine.indexed, Math.max(size, sizeOf(given.shape)));
    case "scatterAdd":
    case "scatterAlong":
      return of(engine.indexed, size + sizeOf(given.shape));
    case "argTop": {
      // By insertion in the compiler, by a heap in ONNX Runtime.
      const [n, k] = [sizeOf(given.shape), t.attributes.k as number];
      return engine === wasm ? n * (2 + k / 4) : n * (2 + 4 * Math.log2(k + 1));
    }
    case "cholesky":
    case "logAbsDet":
      if (engine === onnxruntime) return 1000 * ROW * last(given) + of(engine.plain, size);
      return of(engine.system, sizeOf(given.shape) * last(given));
    case "inverse":
      return of(engine.system, sizeOf(given.shape) * last(given));
    default:
  }
  if (engine === onnxruntime && wide && slow[name] !== undefined) return slow[name] * size;
  const costly =
    isFunction(name) ||
    name === "polygamma" ||
    name === "silu" ||
    name === "gelu" ||
    name === "gate";
  return of(costly ? engine.functions : engine.plain);
}

function predictOf(order: readonly Tensor[], engine: Engine): number {
  let total = engine.call;
  for (const t of order) {
    // An index in the compiler, a copy or free in ONNX Runtime.
    const moves = isView(t);
    if (moves && engine === wasm) continue;
    const work = moves && t.op.name === "reshape" ? 0 : workOf(t, engine);
    total += engine.start + work / 1000;
  }
  return total;
}

/** Work of more microseconds is shared by threads of ONNX Runtime, at least two if allowed. */
const SHARED = 100;

/**
 * Microseconds of a run by both engines.
 *
 * @param outputs in the primitives of the compiler
 * @param threads of one operation; undefined is the choice of the runtime
 */
export function predict(
  outputs: readonly Tensor[],
  threads: number | undefined,
): { readonly wasm: number; readonly onnxruntime: number } {
  const order = topological(outputs).filter((t) => !isInput(t) && !constantValue(t));
  const own = predictOf(order, wasm);
  const other = predictOf(order, onnxruntime);
  const many = threads !== 1 && other > SHARED;
  return { wasm: own, onnxruntime: many ? other / 2 : other };
}
