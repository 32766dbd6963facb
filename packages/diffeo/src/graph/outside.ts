/**
 * A field f(x, t) that no graph knows: a network in a file from elsewhere, a function of the
 * caller's. x is [...batch, ...event], t has the shape of the batch, and the result that of x.
 * Graphs are cut where it stands (`engine/split.ts`).
 *
 * It has no derivatives of its own. Where it is a gradient field, as a score is, its Jacobian is
 * symmetric, and both products with it are one difference along a direction u, h(t) the length of
 * the move in root mean square over the event:
 *
 *   J u = Jᵀu ≈ (f(x + r u, t) − f(x − r u, t))/(2r),   r = h/rms(u),   with an error of O(h²)
 *
 * The product J u needs no symmetry, nor does uᵀJ u, which is what a divergence is made of.
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

/** A function of x and t that no graph holds and that is called between graphs. */
export interface OutsideFunction {
  /** What errors call it. */
  readonly name: string;
  /** Opens what runs it: [x, t] ↦ f. */
  readonly open: (place: Place) => Promise<OutsideCall>;
  /**
   * h(t): the length of the differences that stand for derivatives. Absent: derivatives are
   * refused.
   */
  readonly step?: DifferentiableBy;
}

/** How far to move at time t. */
export type DifferentiableBy = (t: Tensor) => Tensor;

/** The field as an operation on tensors. */
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
        `${name}: times ${showShape(t.shape)} for points ${showShape(x.shape)}`,
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

/** Both ends of every move in one call. */
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
        "leave out what needs it, or build the score from tensors",
      )
    : fail(
        "usage",
        `${name}: a derivative is needed, but the network is outside of the graph`,
        "leave out what needs it (guidance through the score, likelihood), open it with " +
          "`differences`, or build the score from tensors",
      );

/** What no graph can hold is neither written nor evaluated as part of one. */
const refuseInGraphs = (name: string): Pick<Primitive, "name" | "emit" | "evaluate"> => {
  const refuse = (): never =>
    fail(
      "usage",
      `${name} lives outside of the graph`,
      "compile what calls it: it cannot be written into a file",
    );
  return { name, emit: refuse, evaluate: refuse };
};
