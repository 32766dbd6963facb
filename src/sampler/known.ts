/**
 * Inpainting: coordinates that are known are put, at every time, where the forward process takes them,
 *
 *   x_known(t) = m(t) x₀ + σ(t) z,
 *
 * and the reverse process fills in the rest. One pass is not consistent, since the unknown never had a say in the known
 * noise; so each step is repeated: forwards again from t₁ to t₀ > t₁ by the transition between the two times,
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
  mul,
  type NdArray,
  type Shape,
  sqrt,
  square,
  sub,
  type Tensor,
  where,
} from "../graph/index.ts";
import { convert, sameShape, showShape, sizeOf } from "../graph/ndarray.ts";
import { fold, normal, sampleKeys } from "../random/index.ts";
import { type Batch, rowsOf } from "./batch.ts";
import type { Known, Space } from "./options.ts";

/** What inpainting adds to a run; without it, nothing. */
export interface Condition {
  /** How often each step is taken. */
  readonly repeats: number;
  /** Further noise of a step, for one event. */
  readonly draws: readonly Shape[];
  /** The known values in x: an input of the graphs below. */
  readonly values: readonly NdArray[];
  /** The known coordinates set to their law at time t; `z` is the step's last draw. */
  readonly apply: (x: Tensor, t: Tensor, z: Tensor | undefined, values: readonly Tensor[]) => Tensor;
  /** The known coordinates set to their values. */
  readonly settle: (x: Tensor, values: readonly Tensor[]) => Tensor;
  /** From time t₁ forwards to t₀. */
  readonly back: (x: NdArray, t1: number, t0: number, z: NdArray) => Promise<NdArray>;
}

/** @param t the time at which the values are known */
export async function conditioning(batch: Batch, space: Space, t: number): Promise<Condition> {
  const { process, options, event, build } = batch;
  const { known } = options;
  if (!known) return { repeats: 1, draws: [], values: [], apply: (x) => x, settle: (x) => x, back: async (x) => x };
  const { transition, name } = process.sde;
  if (!transition)
    fail("usage", `known: ${name} has no Gaussian transition`, "use VP, VE, sub-VP or one of your own with it");
  if (!process.reversed) fail("usage", "known: the process runs forward", "give it to a reverse process");
  if (space !== "x") fail("usage", "known: steps are taken in y", 'take them in x, with space "x"');
  const { mask, points } = await knownPoints(batch, known, t);
  const repeats = known.resample ?? 10;
  if (!Number.isInteger(repeats) || repeats < 1)
    fail("usage", `known: resample is ${repeats}`, "give a whole number, at least 1");

  const chosen = (x: Tensor, replacement: Tensor): Tensor =>
    where(constant({ shape: event, dtype: "bool", data: mask }, "bool"), replacement, x);
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
    values: [points],
    apply: (x, t, z, [x0]) => chosen(x, add(mul(x0, m(t)), mul(z as Tensor, std(t)))),
    settle: (x, [x0]) => chosen(x, x0),
    back: (x, t1, t0, z) => lift(x, t1, t0, z),
  };
}

/** The mask, and the known values in x; an error if the map makes a known y depend on an unknown x. */
async function knownPoints(
  batch: Batch,
  known: Known,
  time: number,
): Promise<{ readonly mask: Uint8Array; readonly points: NdArray }> {
  const { process, options, event, type, first, count, build } = batch;
  if (!sameShape(known.mask.shape, event))
    fail(
      "shape",
      `known: the mask has shape ${showShape(known.mask.shape)}, an event ${showShape(event)}`,
      "make them equal",
    );
  const mask = Uint8Array.from(known.mask.data as Float64Array, (v) => (v ? 1 : 0));
  const each = known.value.shape.length === event.length + 1;
  const offset = first - (options.first ?? 0);
  if (!sameShape(known.value.shape.slice(each ? 1 : 0), event) || (each && known.value.shape[0] < offset + count))
    fail(
      "shape",
      `known: the values have shape ${showShape(known.value.shape)}`,
      `give ${showShape(event)}, or one event a sample`,
    );
  const given = each ? rowsOf(known.value, offset, count) : known.value;
  const value = { ...given, dtype: type, data: convert(given.data as Float64Array, type) };
  const { phi } = process;
  if (!phi) return { mask, points: value };

  // Two points that agree where x is known must have images that agree where y is.
  const elsewhere = normal(sampleKeys(fold(options.key, "known"), 1), event, { dtype: type });
  const probe = build(
    "known",
    (y: Tensor, other: Tensor) => {
      const t = constant(time, y.dtype);
      const x = phi.inverse(y, t);
      const mixed = where(constant({ shape: event, dtype: "bool", data: mask }, "bool"), x, other);
      return [x, phi.forward(mixed, t)];
    },
    [each ? [null, ...event] : event, event],
  );
  const [points, image] = await probe(value, { ...elsewhere, shape: event });
  const size = sizeOf(event);
  const tolerance = type === "float64" ? 1e-9 : 1e-4;
  for (let i = 0; i < value.data.length; i++) {
    if (!mask[i % size]) continue;
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
