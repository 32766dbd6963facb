/**
 * Functions f(x, t) outside of graphs, such as a network in an ONNX file or a function of the
 * caller. x is [...batch, ...event], t has the shape of the batch, and the result that of x. Graphs
 * are split at these functions (`engine/split.ts`).
 *
 * They have no derivatives. The Jacobian of a gradient field, such as a score, is symmetric, so
 * both products with it are a difference along a direction u, where h(t) is the root mean square
 * step over the event:
 *
 *   J u = Jᵀu ≈ (f(x + r u, t) − f(x − r u, t))/(2r),   r = h/rms(u),   with an error of O(h²)
 *
 * J u needs no symmetry, and neither does uᵀJ u, as in divergences.
 */
import { repeated } from "./broadcast.ts";
import { fail } from "./error.ts";
import {
  allocate,
  convert,
  type NdArray,
  sameShape,
  showShape,
  sizeOf,
  type TypedArray,
  toFloat64,
} from "./ndarray.ts";
import {
  type Make,
  type OutsideCall,
  type Place,
  type Primitive,
  primitive,
  rebuild,
  type Tensor,
} from "./tensor.ts";

/** A function of x and t that is called between graphs. */
export interface OutsideFunction {
  /** The name of the function in errors. */
  readonly name: string;
  /** Opens the function: [x, t] ↦ f. */
  readonly open: (place: Place) => Promise<OutsideCall>;
  /**
   * h(t), the step of the differences that replace derivatives. Without it derivatives are errors.
   */
  readonly step?: DifferentiableBy;
}

/** The step of differences at time t. */
export type DifferentiableBy = (t: Tensor) => Tensor;

/** Makes an operation on tensors from a function outside of graphs. */
export function outside(f: OutsideFunction): (x: Tensor, t: Tensor) => Tensor {
  const { name, step } = f;
  const along = step && difference(f);
  const call: Make = primitive({
    ...refuseInGraphs(name),
    infer: ([x]) => x,
    batch: (node, inputs, mapped) => rebuild(node, repeated(inputs, mapped)),
    vjp: (g, { inputs: [x, t] }, i) =>
      i === 0 && along && step
        ? along([x, t, g, step(t)], {})
        : noDerivative(name, i, step !== undefined),
    outside: { open: f.open },
  });
  return (x, t) => {
    if (!sameShape(t.shape, x.shape.slice(0, t.shape.length)))
      fail(
        "shape",
        `${name}: the times have shape ${showShape(t.shape)}, the points ${showShape(x.shape)}`,
        "give one time per event",
      );
    return call([x, t], {});
  };
}

/** J u at x, by two values of f. It is linear in u, and its own transpose. */
function difference({ name, open }: OutsideFunction): Make {
  const along: Make = primitive({
    ...refuseInGraphs(name),
    infer: ([x]) => x,
    batch: (node, inputs, mapped) => rebuild(node, repeated(inputs, mapped)),
    vjp: (g, { inputs: [x, t, , h] }, i) =>
      i === 2 ? along([x, t, g, h], {}) : noDerivative(name, i, true),
    outside: {
      open: async (place) => {
        const call = await open(place);
        return {
          run: ([x, t, u, h]) => differences(call, x, t, u, h),
          dispose: () => call.dispose(),
        };
      },
    },
  });
  return along;
}

/** Evaluates both ends of every difference in one call. */
async function differences(
  call: OutsideCall,
  x: NdArray,
  t: NdArray,
  u: NdArray,
  h: NdArray,
): Promise<NdArray> {
  const size = sizeOf(x.shape);
  const events = sizeOf(t.shape);
  const n = size / events;
  const [at, along, lengths] = [x, u, h].map(({ data }) => toFloat64(data));
  const radius = Float64Array.from(lengths, (length, i) => {
    let sum = 0;
    for (let k = i * n; k < (i + 1) * n; k++) sum += along[k] ** 2;
    return sum === 0 ? 0 : length / Math.sqrt(sum / n);
  });
  const ends = allocate(x.dtype, 2 * size) as Float64Array;
  for (let k = 0; k < size; k++) {
    const move = radius[Math.floor(k / n)] * along[k];
    ends[k] = at[k] + move;
    ends[size + k] = at[k] - move;
  }
  const times = allocate(t.dtype, 2 * events) as Float64Array;
  times.set(t.data as Float64Array);
  times.set(t.data as Float64Array, events);
  const { data } = await call.run([
    { shape: [2, ...x.shape], dtype: x.dtype, data: ends },
    { shape: [2, ...t.shape], dtype: t.dtype, data: times },
  ]);
  const f = data as Float64Array;
  const out = Float64Array.from({ length: size }, (_, k) => {
    const r = radius[Math.floor(k / n)];
    return r === 0 ? 0 : (f[k] - f[size + k]) / (2 * r);
  });
  return { shape: x.shape, dtype: x.dtype, data: convert(out, x.dtype) as TypedArray };
}

const noDerivative = (name: string, input: number, first: boolean): never =>
  first
    ? fail(
        "usage",
        `${name}: ${input === 1 ? "a derivative in t" : "a second derivative"} is needed, ` +
          "but differences give only the first derivative in x",
        "avoid operations that need it, or build the score from tensors",
      )
    : fail(
        "usage",
        `${name}: a derivative is needed, but the network is outside of the graph`,
        "avoid operations that need it (guidance through the score, likelihoods), set " +
          "`differences`, or build the score from tensors",
      );

/** Functions outside of graphs can neither be written nor evaluated as part of one. */
const refuseInGraphs = (name: string): Pick<Primitive, "name" | "emit" | "evaluate"> => {
  const refuse = (): never =>
    fail(
      "usage",
      `${name} is outside of the graph and cannot be written to a file`,
      "compile the function that calls it",
    );
  return { name, emit: refuse, evaluate: refuse };
};
