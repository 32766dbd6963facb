/** Domains in files: plain data, with one schema per kind. */
import * as v from "valibot";

const finite = v.pipe(v.number(), v.finite());
/** Limits of numbers in files, because the cost of a domain grows with their squares. */
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1000));
const order = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(50));
const name = v.string();
const names = v.pipe(v.array(name), v.minLength(1), v.maxLength(1000));
const parts = v.union([count, names]);
const entries = v.union([order, v.pipe(v.array(name), v.minLength(1), v.maxLength(1275))]);

/** The maps onto positive numbers, by name. */
export const positiveMaps = ["exp", "softplus"] as const;
/** The maps onto a simplex, by name. */
export const simplexMaps = ["additiveLogistic", "isometricLogRatio", "stickBreaking"] as const;
/** The name of a map onto positive numbers. */
export type PositiveMap = (typeof positiveMaps)[number];
/** The name of a map onto a simplex. */
export type SimplexMap = (typeof simplexMaps)[number];

const simplexMap = v.optional(v.picklist(simplexMaps));

/** The least height of a bin of a spline, as a share of all, and the least slope. */
export const LEAST_HEIGHT = 1e-3;

const positives = v.pipe(v.array(v.pipe(finite, v.gtValue(0))), v.maxLength(1000));
const some = v.pipe(v.array(finite), v.maxLength(1000));

const bend = v.variant("kind", [
  v.strictObject({ kind: v.literal("sinh"), centre: some, scale: positives }),
  v.strictObject({
    kind: v.literal("spline"),
    low: some,
    high: some,
    /** One list per coordinate: the shares of the bins in [−B, B], and the slopes between them. */
    heights: v.array(v.pipe(v.array(v.pipe(finite, v.gtValue(LEAST_HEIGHT))), v.maxLength(100))),
    slopes: v.array(positives),
  }),
]);

/** A bend of the coordinates of a map, as plain data. */
export type Bend = v.InferOutput<typeof bend>;

const empirical = v.strictObject({
  kind: v.literal("empirical"),
  knots: v.pipe(v.array(finite), v.minLength(2), v.maxLength(5000)),
  shares: v.pipe(v.array(finite), v.minLength(2), v.maxLength(5000)),
  step: v.optional(finite),
  low: v.optional(finite),
  high: v.optional(finite),
});

const mixed = v.strictObject({
  kind: v.literal("mixed"),
  atoms: v.pipe(v.array(finite), v.minLength(1), v.maxLength(100)),
  other: empirical,
});

export type MixedSpec = v.InferOutput<typeof mixed>;

/** How numbers are recorded. */
const recorded = {
  step: v.optional(v.pipe(finite, v.gtValue(0))),
  range: v.optional(v.pipe(v.array(finite), v.length(2))),
};

const distribution = v.omit(empirical, ["kind"]);

const dates = v.strictObject({
  kind: v.literal("date"),
  format: v.pipe(v.string(), v.maxLength(100)),
  range: v.pipe(v.array(finite), v.length(2)),
  day: distribution,
  year: v.optional(distribution),
  second: v.optional(distribution),
  weekdays: v.optional(v.pipe(v.array(finite), v.minLength(2), v.maxLength(7))),
});

const plain = v.variant("kind", [
  empirical,
  mixed,
  dates,
  v.strictObject({ kind: v.literal("real"), size: v.optional(count), ...recorded }),
  v.strictObject({
    kind: v.literal("positive"),
    ...recorded,
    above: v.optional(finite),
    below: v.optional(finite),
    map: v.optional(v.picklist(positiveMaps)),
  }),
  v.strictObject({ kind: v.literal("between"), low: finite, high: finite, ...recorded }),
  v.strictObject({
    kind: v.literal("integer"),
    ...recorded,
    least: v.optional(finite),
    most: v.optional(finite),
  }),
  v.strictObject({
    kind: v.literal("simplex"),
    parts,
    total: v.optional(finite),
    rest: v.optional(v.union([name, v.pipe(v.number(), v.safeInteger())])),
    zeros: v.optional(finite),
    tolerance: v.optional(finite),
    map: simplexMap,
  }),
  v.strictObject({
    kind: v.literal("category"),
    labels: v.pipe(v.array(v.union([name, finite])), v.minLength(2), v.maxLength(20_000)),
    dimension: v.optional(count),
    soften: v.optional(finite),
    map: simplexMap,
  }),
  v.strictObject({
    kind: v.literal("ordered"),
    step: recorded.step,
    ties: v.optional(v.boolean()),
    parts,
    above: v.optional(finite),
    below: v.optional(finite),
    map: simplexMap,
  }),
  v.strictObject({
    kind: v.literal("angle"),
    period: v.optional(finite),
    centre: v.optional(finite),
    from: v.optional(finite),
  }),
  v.strictObject({ kind: v.literal("ball"), size: parts, radius: v.optional(finite) }),
  v.strictObject({
    kind: v.literal("sphere"),
    size: parts,
    centre: v.optional(v.array(finite)),
  }),
  v.strictObject({ kind: v.literal("correlation"), order: entries }),
  v.strictObject({ kind: v.literal("covariance"), order: entries }),
]);

export type PlainSpec = v.InferOutput<typeof plain>;

const bentSpec = v.strictObject({ kind: v.literal("bent"), domain: plain, bend });

const cell = v.union([name, finite]);
const cells = v.pipe(v.array(cell), v.minLength(1), v.maxLength(20_000));

const derivation = v.variant("by", [
  v.strictObject({
    by: v.literal("sum"),
    from: v.pipe(v.array(name), v.minLength(1), v.maxLength(100)),
    /** The least and the greatest value of each column that is computed from the sum. */
    ranges: v.optional(v.pipe(v.array(v.tuple([finite, finite])), v.maxLength(100))),
    /** The least and the greatest sum that are written. */
    range: v.optional(v.tuple([finite, finite])),
  }),
  v.strictObject({ by: v.literal("label"), from: name, labels: cells, cells }),
  v.strictObject({ by: v.literal("presence"), from: name, labels: cells }),
]);

/** A derivation of cells from other columns, as plain data; see `derived`. */
export type Derivation = v.InferOutput<typeof derivation>;

const single = v.union([
  plain,
  bentSpec,
  v.strictObject({
    kind: v.literal("derived"),
    domain: v.union([plain, bentSpec]),
    derivation,
  }),
]);

/** A domain, or a product of domains by name, in order. */
export const domainSchema = v.union([
  single,
  v.strictObject({
    kind: v.literal("product"),
    parts: v.pipe(v.array(v.strictObject({ name, domain: single })), v.minLength(1)),
  }),
]);

export type SingleSpec = v.InferOutput<typeof single>;
/** A domain as plain data, for files; `domainOf` makes the domain. */
export type DomainSpec = v.InferOutput<typeof domainSchema>;
