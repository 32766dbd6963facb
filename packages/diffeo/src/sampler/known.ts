/**
 * Inpainting: at every time, known coordinates are set to a sample of the forward process,
 *
 *   x_known(t) = m(t) x₀ + σ(t) z,
 *
 * and the reverse process samples the others. With the score of p_t alone this is not consistent,
 * because the noise of the known coordinates does not depend on the unknown ones. There are three
 * remedies:
 *
 * Likelihood. The score of the conditional distribution is, by Bayes' rule,
 *
 *   ∇ log p_t(x | known) = ∇ log p_t(x) + ∇ log p(known | x_t = x).
 *
 * Given the known x₀, their noise z is independent of everything else, p_t(x | known) =
 * p_t(x_unknown | known) q_t(x_known | known), so new z at every step does not change the
 * distribution. The steps are exact if the likelihood is.
 *
 * Conditional score. A score that is a function of the known values (`given`) is that of the
 * conditional distribution itself.
 *
 * Repetition, if there is neither. Each step is repeated: the process goes forwards from t₁ to t₀ >
 * t₁ by the transition between the two times,
 *
 *   x(t₀) = r x(t₁) + √(σ₀² − r² σ₁²) z,   r = m₀/m₁,
 *
 * and back (A. Lugmayr et al., "RePaint", CVPR 2022). The repetitions are a Markov chain on the
 * level t₁.
 */
import {
  add,
  div,
  fail,
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
import type { Batch } from "./batch.ts";
import type { NamedTensors } from "./compiler.ts";
import type { Known, KnownPoints } from "./options.ts";

/** The operations that inpainting adds to a run. */
export interface Condition {
  /** How often each step is run. */
  readonly repeats: number;
  /** The shapes of additional noise of a step, for one event. */
  readonly draws: readonly Shape[];
  /** The known values in x and their mask, by name; inputs of the graphs below. */
  readonly values: Readonly<Record<string, NdArray>>;
  /** Samples the known coordinates at time t; `z` is the last noise of the step. */
  readonly apply: (x: Tensor, t: Tensor, z: Tensor | undefined, values: NamedTensors) => Tensor;
  /** Sets the known coordinates to their values. */
  readonly settle: (x: Tensor, values: NamedTensors) => Tensor;
  /** Goes forwards from time t₁ to t₀. */
  readonly back: (x: NdArray, t1: number, t0: number, z: NdArray) => Promise<NdArray>;
}

const unconditioned: Condition = {
  repeats: 1,
  draws: [],
  values: {},
  apply: (x) => x,
  settle: (x) => x,
  back: async (x) => x,
};

/** The known values among the inputs of a graph. */
export const knownOf = ({ points, mask }: NamedTensors): KnownPoints | undefined =>
  points && { points, mask };

/** @param t the time at which the values are known */
export async function conditioning(batch: Batch, t: number): Promise<Condition> {
  const { process, options, event, build, solver, likelihood, given } = batch;
  const { known } = options;
  if (!known) return unconditioned;
  const { transition, name, reversed } = process;
  if (!transition)
    fail(
      "usage",
      `known: ${name} has no Gaussian transition`,
      "use VP, VE, sub-VP or another SDE with a `transition`",
    );
  if (!reversed) fail("usage", "known: the process runs forward", "use a reverse process");
  if (solver.stepIn !== "x")
    fail("usage", "known: the solver steps in y", 'step in x, with stepIn "x"');
  const values = await knownPoints(batch, known, t);
  const hears = given !== undefined || (likelihood !== undefined && known.strength !== 0);
  const repeats = known.resample ?? (hears ? 1 : 10);
  if (!Number.isInteger(repeats) || repeats < 1)
    fail("usage", `known: \`resample\` is ${repeats}`, "set an integer of at least 1");

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
    values,
    apply: (x, s, z, { points, mask }) =>
      where(mask, add(mul(points, m(s)), mul(z as Tensor, std(s))), x),
    settle: (x, { points, mask }) => where(mask, points, x),
    back: (x, t1, t0, z) => lift(x, t1, t0, z),
  };
}

/**
 * The mask, and the known values in x. Throws if a known coordinate of y depends on an unknown
 * coordinate of x.
 */
async function knownPoints(
  batch: Batch,
  known: Known,
  time: number,
): Promise<{ readonly mask: NdArray; readonly points: NdArray }> {
  const { process, options, event, type, build } = batch;
  const given = eventsOf(batch, known.value, "value");
  const value = { ...given, dtype: type, data: convert(given.data as Float64Array, type) };
  const flags = eventsOf(batch, known.mask, "mask");
  const mask: NdArray = {
    shape: flags.shape,
    dtype: "bool",
    data: Uint8Array.from(flags.data as Float64Array, (v) => (v ? 1 : 0)),
  };
  const phi = process.chart?.phi;
  if (!phi) return { mask, points: value };

  // Two points with equal known coordinates of x must have images with equal known coordinates of
  // y.
  const elsewhere = normal(sampleKeys(fold(options.key, "known"), 1), event, { dtype: type });
  const open = [null, ...event];
  const probe = build(
    "known",
    (y: Tensor, other: Tensor, known: Tensor, t: Tensor) => {
      const x = phi.inverse(y, t);
      return [x, phi.forward(where(known, x, other), t)];
    },
    [open, event, { shape: open, dtype: "bool" }, []],
  );
  const [points, image] = await probe(value, { ...elsewhere, shape: event }, mask, time);
  const tolerance = type === "float64" ? 1e-9 : 1e-4;
  for (let i = 0; i < value.data.length; i++) {
    if (!mask.data[i]) continue;
    if (!Number.isFinite(points.data[i] as number))
      fail(
        "usage",
        `known: the value ${value.data[i]} at the flat index ${i} is outside the domain of ` +
          `${phi.name}`,
        "give points inside the domain",
      );
    const [want, got] = [Number(value.data[i]), Number(image.data[i])];
    if (Math.abs(got - want) > tolerance * (1 + Math.abs(want)))
      fail(
        "usage",
        `known: ${phi.name} mixes known and unknown coordinates: the known value ${want} at ` +
          `the flat index ${i} becomes ${got} when unknown ones change`,
        "mask whole sites, so that a known coordinate of y depends on known coordinates of x alone",
      );
  }
  return { mask, points };
}

/**
 * The events of a batch, one per sample, from an array that has one for all samples or one per
 * sample.
 */
function eventsOf({ event, first, count, options }: Batch, array: NdArray, what: string): NdArray {
  const { shape, dtype, data } = array;
  const offset = first - (options.first ?? 0);
  const own = shape.length === event.length + 1;
  if (!sameShape(shape.slice(own ? 1 : 0), event) || (own && shape[0] < offset + count))
    fail(
      "shape",
      `known: \`${what}\` has shape ${showShape(shape)}`,
      `give ${showShape(event)}, or one event per sample`,
    );
  if (own) return rowsOf(array, offset, count);
  const all = allocate(dtype, count * data.length) as Float64Array;
  for (let i = 0; i < count; i++) all.set(data as Float64Array, i * data.length);
  return { shape: [count, ...event], dtype, data: all };
}
