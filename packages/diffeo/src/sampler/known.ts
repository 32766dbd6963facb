/**
 * Inpainting: coordinates that are known are put, at every time, where the forward process takes them,
 *
 *   x_known(t) = m(t) x₀ + σ(t) z,
 *
 * and the reverse process fills in the rest. With the score of p_t alone that is not consistent, since the unknown never
 * had a say in the known noise. Two ways to make it so:
 *
 * Likelihood. The score of the conditional law is, by Bayes' rule,
 *
 *   ∇ log p_t(x | known) = ∇ log p_t(x) + ∇ log p(known | x_t = x).
 *
 * Given the known x₀ their noise z is independent of all else, p_t(x | known) = p_t(x_unknown | known) q_t(x_known | known),
 * so fresh z at every step leaves the law as it is: the steps are exact if the likelihood is.
 *
 * Repetition, where there is no likelihood: each step is taken several times, forwards again from t₁ to t₀ > t₁ by the
 * transition between the two times,
 *
 *   x(t₀) = r x(t₁) + √(σ₀² − r² σ₁²) z,   r = m₀/m₁,
 *
 * and back (A. Lugmayr et al., "RePaint", CVPR 2022). The repetitions are a Markov chain on the level t₁.
 */
import {
  add,
  constant,
  div,
  fail,
  gradEach,
  mul,
  type NdArray,
  type Shape,
  sqrt,
  square,
  sub,
  type Tensor,
  where,
} from "../graph/index.ts";
import { allocate, convert, sameShape, showShape } from "../graph/ndarray.ts";
import { rowsOf } from "../host/index.ts";
import { fold, normal, sampleKeys } from "../random/index.ts";
import { type Process, reverse, reversePush } from "../sde/index.ts";
import type { Batch } from "./batch.ts";
import type { Known, KnownPoints, Space } from "./options.ts";

/** What inpainting adds to a run; without it, nothing. */
export interface Condition {
  /** How often each step is taken. */
  readonly repeats: number;
  /** Further noise of a step, for one event. */
  readonly draws: readonly Shape[];
  /** The known values in x and where they are known: inputs of the graphs below. */
  readonly values: readonly NdArray[];
  /** The process whose score has heard of the known values. */
  readonly process: (values: readonly Tensor[]) => Process;
  /** The known coordinates set to their law at time t; `z` is the step's last draw. */
  readonly apply: (x: Tensor, t: Tensor, z: Tensor | undefined, values: readonly Tensor[]) => Tensor;
  /** The known coordinates set to their values. */
  readonly settle: (x: Tensor, values: readonly Tensor[]) => Tensor;
  /** From time t₁ forwards to t₀. */
  readonly back: (x: NdArray, t1: number, t0: number, z: NdArray) => Promise<NdArray>;
}

const unconditioned = (process: Process): Condition => ({
  repeats: 1,
  draws: [],
  values: [],
  process: () => process,
  apply: (x) => x,
  settle: (x) => x,
  back: async (x) => x,
});

/** @param t the time at which the values are known */
export async function conditioning(batch: Batch, space: Space, t: number): Promise<Condition> {
  const { process, options, event, build } = batch;
  const { known } = options;
  if (!known) return unconditioned(process);
  const { transition, name } = process.sde;
  if (!transition)
    fail("usage", `known: ${name} has no Gaussian transition`, "use VP, VE, sub-VP or one of your own with it");
  if (!process.reversed) fail("usage", "known: the process runs forward", "give it to a reverse process");
  if (space !== "x") fail("usage", "known: steps are taken in y", 'take them in x, with space "x"');
  const values = await knownPoints(batch, known, t);
  const repeats = known.resample ?? (known.likelihood ? 1 : 10);
  if (!Number.isInteger(repeats) || repeats < 1)
    fail("usage", `known: resample is ${repeats}`, "give a whole number, at least 1");

  const { meanFactor: m, std } = transition;
  const lift = build(
    "back",
    (x: Tensor, t1: Tensor, t0: Tensor, z: Tensor) => {
      const r = div(m(t0), m(t1));
      return add(mul(x, r), mul(z, sqrt(sub(square(std(t0)), square(mul(r, std(t1)))))));
    },
    [[null, ...event], [], [], [null, ...event]],
  );
  return {
    repeats,
    draws: [event],
    values: [values.points, values.mask],
    process: ([points, mask]) => informed(process, known, { points, mask }),
    apply: (x, t, z, [x0, mask]) => where(mask, add(mul(x0, m(t)), mul(z as Tensor, std(t))), x),
    settle: (x, [x0, mask]) => where(mask, x0, x),
    back: (x, t1, t0, z) => lift(x, t1, t0, z),
  };
}

/** The process with ∇ log p(known | x_t) added to its score. */
function informed(process: Process, { likelihood }: Known, known: KnownPoints): Process {
  const { sde, phi, score } = process;
  if (!likelihood || !score) return process;
  const conditional = (x: Tensor, t: Tensor): Tensor => add(score(x, t), gradEach((z) => likelihood(z, t, known))(x));
  return phi ? reversePush(sde, phi, conditional) : reverse(sde, conditional);
}

/** The mask, and the known values in x; an error if the map makes a known y depend on an unknown x. */
async function knownPoints(
  batch: Batch,
  known: Known,
  time: number,
): Promise<{ readonly mask: NdArray; readonly points: NdArray }> {
  const { process, options, event, type, build } = batch;
  const each = [known.mask, known.value].some(({ shape }) => shape.length === event.length + 1);
  const own = (array: NdArray, what: string) => eventsOf(batch, array, each, what);
  const given = own(known.value, "values have");
  const value = { ...given, dtype: type, data: convert(given.data as Float64Array, type) };
  const flags = own(known.mask, "mask has");
  const mask: NdArray = {
    shape: flags.shape,
    dtype: "bool",
    data: Uint8Array.from(flags.data as Float64Array, (v) => (v ? 1 : 0)),
  };
  const { phi } = process;
  if (!phi) return { mask, points: value };

  // Two points that agree where x is known must have images that agree where y is.
  const elsewhere = normal(sampleKeys(fold(options.key, "known"), 1), event, { dtype: type });
  const open = each ? [null, ...event] : event;
  const probe = build(
    "known",
    (y: Tensor, other: Tensor, known: Tensor) => {
      const t = constant(time, y.dtype);
      const x = phi.inverse(y, t);
      return [x, phi.forward(where(known, x, other), t)];
    },
    [open, event, { shape: open, dtype: "bool" }],
  );
  const [points, image] = await probe(value, { ...elsewhere, shape: event }, mask);
  const tolerance = type === "float64" ? 1e-9 : 1e-4;
  for (let i = 0; i < value.data.length; i++) {
    if (!mask.data[i]) continue;
    if (!Number.isFinite(points.data[i] as number))
      fail(
        "usage",
        `known: the value ${value.data[i]} at flat position ${i} lies outside the domain of ${phi.name}`,
        "give points inside it",
      );
    const [want, got] = [Number(value.data[i]), Number(image.data[i])];
    if (Math.abs(got - want) > tolerance * (1 + Math.abs(want)))
      fail(
        "usage",
        `known: ${phi.name} mixes known and unknown coordinates: the known value ${want} at flat position ${i} becomes ${got} when unknown ones change`,
        "mask whole sites, so that a known coordinate of y depends on known coordinates of x alone",
      );
  }
  return { mask, points };
}

/** The events of a batch in an array that has one for all samples or one a sample; `each` gives one a sample in any case. */
function eventsOf({ event, first, count, options }: Batch, array: NdArray, each: boolean, what: string): NdArray {
  const { shape, dtype, data } = array;
  const offset = first - (options.first ?? 0);
  const own = shape.length === event.length + 1;
  if (!sameShape(shape.slice(own ? 1 : 0), event) || (own && shape[0] < offset + count))
    fail("shape", `known: the ${what} shape ${showShape(shape)}`, `give ${showShape(event)}, or one event a sample`);
  if (own) return rowsOf(array, offset, count);
  if (!each) return array;
  const all = allocate(dtype, count * data.length) as Float64Array;
  for (let i = 0; i < count; i++) all.set(data as Float64Array, i * data.length);
  return { shape: [count, ...event], dtype, data: all };
}
