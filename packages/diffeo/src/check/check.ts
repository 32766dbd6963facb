/**
 * `checkMap` holds a map to its laws, at random points and where |x| is large, and says how far off
 * the worst was and where: what to run before trusting a map of one's own.
 */
import { type Bijector, jacobianOf, withoutClosedForms } from "../bijector/index.ts";
import {
  DiffeoError,
  type FloatType,
  fail,
  input,
  type NdArray,
  type Shape,
  showShape,
  sizeOf,
  type Tensor,
  toFloat64,
} from "../graph/index.ts";
import { sameShape } from "../graph/ndarray.ts";
import { fold, type Key, key, normal } from "../random/index.ts";
import { fromX, type Law, type Probe } from "./law.ts";
import { laws } from "./map-laws.ts";
import {
  directions,
  evaluateAt,
  type Found,
  patterns,
  perturb,
  repeated,
  withinCondition,
  withMoved,
} from "./probe.ts";

/** Where and how often properties are tried. */
export interface CheckOptions {
  /** The shape of one event of x, e.g. [12]. */
  readonly event: Shape;
  /**
   * A map from Rⁿ onto the domain of φ, where that is not all of Rⁿ. Laws far out are then left
   * out.
   */
  readonly from?: Bijector;
  /** How many points. Default 16. */
  readonly count?: number;
  /** By default the same points every time. */
  readonly key?: Key;
  /** How far out "where |x| is large" is. Default 20. */
  readonly extreme?: number;
  /** Where to compute. Default `cpu`. */
  readonly device?: string;
  /** Laws to hold besides those of every map, e.g. about an SDE moved by it. */
  readonly more?: readonly Law[];
}

/** How far the two sides of a property differ, and where most. */
export interface LawResult {
  readonly law: string;
  /**
   * The largest error among the points, relative as the law says; for laws about finiteness, how
   * many values fail.
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
  /** What a failure means; absent where the law holds. */
  readonly remedy?: string;
}

/** What `checkMap` found of a map. */
export interface MapReport {
  readonly map: string;
  readonly pass: boolean;
  readonly laws: readonly LawResult[];
}

/**
 * Where φ shrinks or stretches lengths more than this, rounding leaves fewer digits than are asked
 * for.
 */
const CONDITION_LIMIT = 1e10;
const HARD_TOLERANCE = 1e-5;
/**
 * How often points are moved to see how far the right side of a law is determined, and how many
 * times further off is too far.
 */
const [MOVES, ROUNDING] = [11, 16];
const LARGEST_EVENT = 64;
/** Points that are looked at beside each of those far out: one alone may be small by chance. */
const BESIDE = 3;
/** The root of what float32 can hold: values below may be squared on the way. */
const FLOAT32_RANGE = 1e18;

/**
 * Checks that a map has the properties that everything here relies on, at random points.
 *
 * @returns for each property the largest difference found, and whether it passed
 */
export async function checkMap(phi: Bijector, options: CheckOptions): Promise<MapReport> {
  const { event, from, count = 16, extreme = 20, device = "cpu" } = options;
  const seed = options.key ?? key("diffeo check");
  const embeds = requireShapes(phi, event, from);
  const own = [...laws, ...(options.more ?? [])].filter(
    (law) => law.applies?.(phi, embeds) ?? true,
  );
  const random = directions(phi, event, count, fold(seed, "directions"));
  const at = <Y>(
    type: FloatType,
    z: readonly NdArray[],
    f: (probe: Probe) => Y,
  ): Promise<Found<Y>[]> => evaluateAt(phi, from, random, { device, type }, z, f);

  const plain = withoutClosedForms(phi);
  const spread = normal(fold(seed, "points"), [count, ...event], { dtype: "float64" });
  // Half as far where x has a boundary, so that the steps of finite differences stay well inside.
  const typical = from ? { ...spread, data: spread.data.map((z) => z / 2) } : spread;
  const far = from ? undefined : patterns(event, count, extreme, fold(seed, "far"));
  const dense = (z: readonly NdArray[]) => at("float64", z, ({ x, t }) => jacobianOf(plain, x, t));
  const hard = far && (await withinCondition(far, CONDITION_LIMIT, dense));
  const [near, distant] = await evaluateAt(
    phi,
    from,
    random.map((a) => repeated(a, MOVES + 1)),
    { device, type: "float64" },
    (hard ? [typical, hard] : [typical]).map((z) => withMoved(z, MOVES, fold(seed, "moved"))),
    (probe) => own.map((law) => law.sides(phi, probe)),
  );
  const results = own.map((law, i) => judge(law, count, near, near.result[i]));
  if (!far) return report(phi, results);

  own.forEach((law, i) => {
    const eased = { ...law, law: `|x| ≤ ${extreme}: ${law.law}`, tolerance: HARD_TOLERANCE };
    if (law.hard) results.push(judge(eased, count, distant, distant.result[i]));
  });
  // A value that is small at a point and beyond float32 beside it is a difference of parts that no
  // float32 holds.
  const beside = Array.from({ length: BESIDE }, (_, i) => {
    const own = fold(seed, "beside");
    return perturb(far, 2 ** -23, i === 0 ? own : fold(own, i));
  });
  const [double, ...around] = await at("float64", [far, ...beside], (probe) => fromX(phi, probe));
  results.push(judgeFinite(`|x| = ${extreme}: finite in float64`, double, []));
  if (device !== "reference") {
    const [single] = await at("float32", [far], (probe) => fromX(phi, probe));
    results.push(
      judgeFinite(`|x| = ${extreme}: finite in float32, where the value fits`, single, [
        double,
        ...around,
      ]),
    );
  }
  return report(phi, results);
}

const report = (phi: Bijector, results: readonly LawResult[]): MapReport => ({
  map: phi.name,
  pass: results.every((r) => r.pass),
  laws: results,
});

/**
 * Builds φ on a batch of an odd shape before anything runs, and says in the map's terms what does
 * not fit.
 */
function requireShapes(phi: Bijector, event: Shape, from?: Bijector): boolean {
  if (event.length !== phi.eventRank)
    fail(
      "shape",
      `"${phi.name}" acts on events of ${phi.eventRank} axes, and ${showShape(event)} has ${event.length}`,
      "give the shape of one event of x, without batch axes",
    );
  if (sizeOf(event) > LARGEST_EVENT)
    fail(
      "usage",
      `checking J needs it dense, and an event of ${showShape(event)} has ${sizeOf(event)} coordinates`,
      `check a smaller event, of at most ${LARGEST_EVENT}`,
    );
  const z = input("x", [2, 3, ...event], "float64");
  const t = input("t", [2, 3], "float64");
  const attempt = (
    part: string,
    f: () => Tensor,
    batch: Shape | undefined,
    whole?: Shape,
  ): Tensor => {
    let made: Tensor;
    try {
      made = f();
    } catch (error) {
      if (!(error instanceof DiffeoError)) throw error;
      throw new DiffeoError(
        error.kind,
        `${part} of "${phi.name}" failed on a batch of [2, 3]: ${error.message}`,
        error.remedy,
        { cause: error },
      );
    }
    const fits = whole
      ? sameShape(made.shape, whole)
      : batch && sameShape(made.shape.slice(0, batch.length), batch);
    if (!fits || made.shape.length !== (whole?.length ?? 2 + phi.eventRank))
      fail(
        "shape",
        `${part} of "${phi.name}" takes ${showShape(z.shape)} to ${showShape(made.shape)}`,
        whole
          ? `return shape ${showShape(whole)}`
          : `keep the batch axes [2, 3] and make ${phi.eventRank} event axes`,
      );
    return made;
  };
  const x = from ? attempt("the map from Rⁿ", () => from.forward(z), undefined, z.shape) : z;
  const y = attempt("forward", () => phi.forward(x, t), [2, 3]);
  attempt("inverse", () => phi.inverse(y, t), undefined, z.shape);
  attempt("logDet", () => phi.logDet(x, t), undefined, [2, 3]);
  return !sameShape(x.shape, y.shape);
}

/**
 * The largest error of a law among the events of a batch, relative to the size of the right side.
 * Terms of it may cancel, to nothing even: the trace of an additive logistic map where two shares
 * are equal, J⁻¹ of it on a sphere in R³. What is left is rounding of the terms, and no digit of it
 * means anything. How large that is, the right side says itself at points that are the same up to
 * rounding; the left side is not asked, so that a closed form that loses digits is found.
 */
function judge(
  law: Law,
  count: number,
  points: Found<unknown>,
  sides: readonly [NdArray, NdArray],
): LawResult {
  const [got, wanted] = sides.map((a) => toFloat64(a.data));
  const size = got.length / points.x.shape[0];
  const errors = Array.from({ length: count }, (_, row) => {
    let [error, scale, spread] = [0, law.floor, 0];
    for (let i = row * size; i < (row + 1) * size; i++) {
      const gap = Math.abs(got[i] - wanted[i]);
      error = Number.isNaN(gap) ? Number.POSITIVE_INFINITY : Math.max(error, gap);
      scale = Math.max(scale, Math.abs(wanted[i]));
      for (let k = i + count * size; k < wanted.length; k += count * size)
        spread = Math.max(spread, Math.abs(wanted[k] - wanted[i]) || 0);
    }
    if (law.tolerance > 0) scale = Math.max(scale, (ROUNDING * spread) / law.tolerance);
    return error === 0 ? 0 : error / (Number.isFinite(scale) ? scale : 1);
  });
  return outcome(law.law, errors, law.tolerance, points, law.remedy);
}

/**
 * Counts, event by event, the values that are not numbers although float32 could hold all of the
 * exact ones, if there are any.
 */
function judgeFinite(
  law: string,
  found: Found<NamedTensors>,
  exact: readonly Found<NamedTensors>[],
): LawResult {
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
    law,
    errors,
    0,
    found,
    `not a number: ${[...bad].join(", ")}; a closed form in log space may help`,
  );
}

type NamedTensors = Readonly<Record<string, Tensor>>;

function outcome(
  law: string,
  errors: readonly number[],
  tolerance: number,
  found: Found<unknown>,
  remedy: string,
): LawResult {
  const worst = Math.max(...errors);
  const row = errors.indexOf(worst);
  const eventAt = ({ shape, data }: NdArray): number[] => {
    const size = data.length / shape[0];
    return [...toFloat64(data).subarray(row * size, (row + 1) * size)];
  };
  const pass = worst <= tolerance;
  const where = { x: eventAt(found.x), y: eventAt(found.y), t: eventAt(found.t)[0] };
  return { law, worst, tolerance, pass, where, ...(!pass && { remedy }) };
}
