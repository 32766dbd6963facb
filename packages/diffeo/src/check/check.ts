/**
 * `checkMap` checks the properties of a map at random points and where |x| is large. It reports the
 * largest error of each property and the point where it occurred. Run it before you use a custom
 * map.
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
} from "../graph/index.ts";
import { sameShape } from "../graph/ndarray.ts";
import { fold, type Key, key, normal } from "../random/index.ts";
import { mapProperties } from "./map-properties.ts";
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
import { fromX, type Probe, type Property } from "./property.ts";
import { judge, judgeFinite, type PropertyResult } from "./verdict.ts";

/** Options of `checkMap`. */
export interface CheckOptions {
  /** The shape of one event of x, e.g. [12]. */
  readonly event: Shape;
  /**
   * A map from Rⁿ onto the domain of φ, if that is not all of Rⁿ. Checks at large |x| are then
   * skipped.
   */
  readonly from?: Bijector;
  /** The number of points. Default 16. */
  readonly count?: number;
  /** The key of the random points. Default: the same points every time. */
  readonly key?: Key;
  /** The |x| of the points with large |x|. Default 20. */
  readonly extreme?: number;
  /** The device. Default `cpu`. */
  readonly device?: string;
  /** Properties to check in addition, for example `processProperties` for SDEs through the map. */
  readonly more?: readonly Property[];
}

/** The result of `checkMap`. */
export interface MapReport {
  readonly map: string;
  readonly pass: boolean;
  readonly properties: readonly PropertyResult[];
}

/** Above this condition number of J, rounding errors exceed the tolerances. */
const CONDITION_LIMIT = 1e10;
const HARD_TOLERANCE = 1e-5;
/** The number of perturbed copies of a point that measure the rounding error of the right side. */
const MOVES = 11;
const LARGEST_EVENT = 64;
/** Points evaluated near each distant point: one alone may be small by chance. */
const BESIDE = 3;

/**
 * Checks the properties of a map at random points: round trip, log-determinant, Jacobian products,
 * closed forms, Itô terms and finite values at large |x|.
 *
 * @returns for each property the largest error, where it occurred, and whether the check passed
 * @throws DiffeoError of kind `shape` or `usage` if the map does not accept such events
 * @example
 * const report = await checkMap(additiveLogistic(), { event: [4] });
 * console.log(report.pass);
 */
export async function checkMap(phi: Bijector, options: CheckOptions): Promise<MapReport> {
  const { event, from, count = 16, extreme = 20, device = "cpu" } = options;
  const seed = options.key ?? key("diffeo check");
  const embeds = requireShapes(phi, event, from);
  const own = [...mapProperties, ...(options.more ?? [])].filter(
    (property) => property.applies?.(phi, embeds) ?? true,
  );
  const random = directions(phi, event, count, fold(seed, "directions"));
  const at = <Y>(
    type: FloatType,
    z: readonly NdArray[],
    f: (probe: Probe) => Y,
  ): Promise<Found<Y>[]> => evaluateAt(phi, from, random, { device, type }, z, f);

  const plain = withoutClosedForms(phi);
  const spread = normal(fold(seed, "points"), [count, ...event], { dtype: "float64" });
  // Half as far if x has a boundary, so that the steps of finite differences stay inside.
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
    (probe) => own.map((property) => property.sides(phi, probe)),
  );
  const results = own.map((property, i) => judge(property, count, near, near.result[i]));
  if (!far) return report(phi, results);

  own.forEach((property, i) => {
    const eased = {
      ...property,
      name: `|x| ≤ ${extreme}: ${property.name}`,
      tolerance: HARD_TOLERANCE,
    };
    if (property.hard) results.push(judge(eased, count, distant, distant.result[i]));
  });
  // A value that is small at a point and exceeds float32 nearby is a difference of terms that
  // float32 cannot represent.
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

const report = (phi: Bijector, results: readonly PropertyResult[]): MapReport => ({
  map: phi.name,
  pass: results.every((r) => r.pass),
  properties: results,
});

/**
 * Traces φ on a batch of an unusual shape before anything runs, and names the function of the map
 * whose shape is wrong.
 */
function requireShapes(phi: Bijector, event: Shape, from?: Bijector): boolean {
  if (event.length !== phi.eventRank)
    fail(
      "shape",
      `"${phi.name}" acts on events of ${phi.eventRank} axes, but ${showShape(event)} has ` +
        `${event.length}`,
      "give the shape of one event of x, without batch axes",
    );
  if (sizeOf(event) > LARGEST_EVENT)
    fail(
      "usage",
      `the check needs a dense Jacobian, but an event of shape ${showShape(event)} has ` +
        `${sizeOf(event)} coordinates`,
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
        `${part} of "${phi.name}" failed on a batch of [2, 3]: ${error.problem}`,
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
        `${part} of "${phi.name}" maps shape ${showShape(z.shape)} to ${showShape(made.shape)}`,
        whole
          ? `return shape ${showShape(whole)}`
          : `keep the batch axes [2, 3] and return ${phi.eventRank} event axes`,
      );
    return made;
  };
  const x = from ? attempt("the map from Rⁿ", () => from.forward(z), undefined, z.shape) : z;
  const y = attempt("forward", () => phi.forward(x, t), [2, 3]);
  attempt("inverse", () => phi.inverse(y, t), undefined, z.shape);
  attempt("logDet", () => phi.logDet(x, t), undefined, [2, 3]);
  return !sameShape(x.shape, y.shape);
}
