/**
 * A leapfrog step (leapfrog.ts) of many chains as a graph with one input row and one output row per
 * chain.
 */
import {
  add,
  concat,
  expandDims,
  gradEach,
  matvec,
  mul,
  type NdArray,
  slice,
  squeeze,
  sum,
  swapAxes,
  type Tensor,
} from "../graph/index.ts";
import { leapfrogStep } from "./leapfrog.ts";
import { inverseShape, type MetricForm } from "./metric.ts";
import type { Leaf } from "./trajectory.ts";

/** e^{log p} on Rⁿ. */
export interface ChainTarget {
  /** n */
  readonly size: number;
  /** log p at points [B, n], one number per point, up to a constant. */
  readonly logDensity: (x: Tensor, inputs: Readonly<Record<string, Tensor>>) => Tensor;
  /**
   * Shapes of what else it depends on. These are inputs of the graph, so that their values can
   * change without compiling again. Default none.
   */
  readonly inputs?: Readonly<Record<string, readonly (number | null)[]>>;
}

/** What the target depends on besides the point. */
export type ChainInputs = Readonly<Record<string, NdArray>>;

/** Runs one step of all rows: a compiled graph, or one read from a file. */
export interface ChainStep {
  (inputs: ChainInputs, rows: NdArray, inverse: NdArray): Promise<NdArray>;
  dispose(): Promise<void>;
}

/** The widths of a chain's input and output rows. */
export const rowWidths = (n: number): readonly [number, number] => [3 * n + 1, 4 * n + 2];

/** M⁻¹p of rows [B, n], by the form of M⁻¹ (metric.ts). */
function velocityOf(inverse: Tensor, n: number, form: MetricForm): (p: Tensor) => Tensor {
  if (form === "dense") return (p) => matvec(inverse, p);
  if (form === "diagonal") return (p) => mul(inverse, p);
  const diagonal = squeeze(slice(inverse, null, [0, 1], [0, n]), 1);
  const ranks = inverse.shape[1];
  const scaled = slice(inverse, null, [1, ranks], [0, n]);
  const excess = squeeze(slice(inverse, null, [1, ranks], [n, n + 1]), 2);
  return (p) =>
    add(mul(diagonal, p), matvec(swapAxes(scaled, 1, 2), mul(excess, matvec(scaled, p))));
}

/**
 * Maps the inputs, rows (x, p, ∇, ε) and M⁻¹ of all chains to rows (x, p, ∇, M⁻¹p, log p, ½pᵀM⁻¹p)
 * after one step. There is one array in and one out, because a runtime takes longer to bind a small
 * array than to slice it.
 */
const stepRows =
  (logDensity: ChainTarget["logDensity"], n: number, form: MetricForm) =>
  (inputs: Readonly<Record<string, Tensor>>, rows: Tensor, inverse: Tensor): Tensor => {
    const part = (k: number): Tensor => slice(rows, null, [k * n, (k + 1) * n]);
    const [x, momentum, slope] = [part(0), part(1), part(2)];
    const stepSize = slice(rows, null, [3 * n, 3 * n + 1]);
    const velocity = velocityOf(inverse, n, form);
    const f = (y: Tensor): Tensor => logDensity(y, inputs);
    const slopeAt = gradEach(f);
    const after = leapfrogStep(
      { at: (y) => ({ x: y, slope: slopeAt(y) }), slope: (chains) => chains.slope, velocity },
      { chains: { x, slope }, momentum },
      stepSize,
    );
    const { x: moved, slope: pull } = after.chains;
    const p = after.momentum;
    const v = velocity(p);
    const kinetic = mul(sum(mul(p, v), -1), 0.5);
    return concat([moved, p, pull, v, expandDims(f(moved), -1), expandDims(kinetic, -1)], -1);
  };

/** The step of `rows` chains as a function of tensors, with the shapes of its arguments. */
export function stepOf(target: ChainTarget, rows: number, form: MetricForm) {
  const { size: n, logDensity, inputs = {} } = target;
  return {
    step: stepRows(logDensity, n, form),
    shapes: [inputs, [rows, rowWidths(n)[0]], [rows, ...inverseShape(form, n)]] as const,
  };
}

/** Row c of the result of a step. The result of a run is not reused, so a view of it is enough. */
export function leafOf(found: Float64Array, c: number, n: number): Leaf {
  const from = c * rowWidths(n)[1];
  const part = (k: number): Float64Array => found.subarray(from + k * n, from + (k + 1) * n);
  const value = found[from + 4 * n];
  const energy = found[from + 4 * n + 1] - value;
  return {
    x: part(0),
    momentum: part(1),
    slope: part(2),
    velocity: part(3),
    value,
    energy: Number.isNaN(energy) ? Number.POSITIVE_INFINITY : energy,
  };
}
