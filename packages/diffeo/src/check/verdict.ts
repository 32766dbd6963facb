/** Compares the two sides of a property at many points: the largest error and the verdict. */
import { type NdArray, type Tensor, toFloat64 } from "../graph/index.ts";
import type { Found } from "./probe.ts";
import type { Property } from "./property.ts";

/** The square root of the largest float32: values below it can be squared. */
const FLOAT32_RANGE = 1e18;
/** The tolerance of an error as a multiple of the rounding error of the right side. */
const ROUNDING = 16;

/** The largest difference between the two sides of a property, and where it occurred. */
export interface PropertyResult {
  readonly name: string;
  /**
   * The largest error over the points, relative to the scale of the property. For properties about
   * finite values: how many values fail.
   */
  readonly worst: number;
  readonly tolerance: number;
  readonly pass: boolean;
  /** The event of x with the largest error, its y, both flattened, and its time. */
  readonly where: {
    readonly x: readonly number[];
    readonly y: readonly number[];
    readonly t: number;
  };
  /** The likely cause of a failure; absent if the check passed. */
  readonly remedy?: string;
}

/**
 * The largest error of a property over the events of a batch, relative to the size of the right
 * side. Terms of the right side may cancel completely, for example in the Itô trace of the additive
 * logistic map where two shares are equal. Only rounding errors remain then. Their size is measured
 * on the right side at points that agree up to rounding. The left side is not used for this, so
 * that a closed form that loses digits is found.
 */
export function judge(
  property: Property,
  count: number,
  points: Found<unknown>,
  sides: readonly [NdArray, NdArray],
): PropertyResult {
  const [got, wanted] = sides.map((a) => toFloat64(a.data));
  const size = got.length / points.x.shape[0];
  const errors = Array.from({ length: count }, (_, row) => {
    let [error, scale, spread] = [0, property.floor, 0];
    for (let i = row * size; i < (row + 1) * size; i++) {
      const gap = Math.abs(got[i] - wanted[i]);
      error = Number.isNaN(gap) ? Number.POSITIVE_INFINITY : Math.max(error, gap);
      scale = Math.max(scale, Math.abs(wanted[i]));
      for (let k = i + count * size; k < wanted.length; k += count * size)
        spread = Math.max(spread, Math.abs(wanted[k] - wanted[i]) || 0);
    }
    if (property.tolerance > 0) scale = Math.max(scale, (ROUNDING * spread) / property.tolerance);
    return error === 0 ? 0 : error / (Number.isFinite(scale) ? scale : 1);
  });
  return outcome(property.name, errors, property.tolerance, points, property.remedy);
}

/**
 * Counts per event the values that are not finite although float32 could represent every exact
 * value.
 */
export function judgeFinite(
  name: string,
  found: Found<NamedTensors>,
  exact: readonly Found<NamedTensors>[],
): PropertyResult {
  const count = found.x.shape[0];
  const bad = new Set<string>();
  const errors = Array.from({ length: count }, (_, row) =>
    Object.entries(found.result).reduce((failures, [name, { data }]) => {
      const values = toFloat64(data);
      const references = exact.map(({ result }) => toFloat64(result[name].data));
      const size = values.length / count;
      let here = 0;
      for (let i = row * size; i < (row + 1) * size; i++)
        if (
          !Number.isFinite(values[i]) &&
          !references.some((own) => Math.abs(own[i]) > FLOAT32_RANGE)
        )
          here++;
      if (here > 0) bad.add(name);
      return failures + here;
    }, 0),
  );
  return outcome(
    name,
    errors,
    0,
    found,
    `not finite: ${[...bad].join(", ")}; a closed form in log space may help`,
  );
}

type NamedTensors = Readonly<Record<string, Tensor>>;

function outcome(
  name: string,
  errors: readonly number[],
  tolerance: number,
  found: Found<unknown>,
  remedy: string,
): PropertyResult {
  const worst = Math.max(...errors);
  const row = errors.indexOf(worst);
  const eventAt = ({ shape, data }: NdArray): number[] => {
    const size = data.length / shape[0];
    return [...toFloat64(data).subarray(row * size, (row + 1) * size)];
  };
  const pass = worst <= tolerance;
  const where = { x: eventAt(found.x), y: eventAt(found.y), t: eventAt(found.t)[0] };
  return { name, worst, tolerance, pass, where, ...(!pass && { remedy }) };
}
