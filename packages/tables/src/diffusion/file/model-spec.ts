/** What the header of a model file says, as a schema. */
import { byName } from "diffeo/host";
import * as v from "valibot";

export const FORMAT = "diffeo-table-1";

const finite = v.pipe(v.number(), v.finite());

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const whole = v.pipe(v.number(), v.safeInteger());

const positive = v.pipe(finite, v.gtValue(0));

const network = v.looseObject({ kind: v.string() });

const part = v.union([
  v.strictObject({ name: v.string(), domain: v.unknown() }),
  v.strictObject({ name: v.string(), own: v.string() }),
]);

const filler = v.variant("kind", [
  v.strictObject({ kind: v.literal("constant"), value: v.string() }),
  v.strictObject({
    kind: v.literal("numbered"),
    before: v.string(),
    next: count,
    width: v.pipe(count, v.maxValue(20)),
    after: v.string(),
  }),
  v.strictObject({
    kind: v.literal("coded"),
    pattern: v.pipe(v.array(v.pipe(v.string(), v.regex(/^([0fFAaXx]|=.)$/su))), v.maxLength(64)),
  }),
  v.strictObject({ kind: v.literal("omitted") }),
]);

const standard = v.strictObject({ mean: v.array(finite), matrix: v.array(finite) });

const binsSchema = v.strictObject({
  edges: v.pipe(v.array(finite), v.minLength(1), v.maxLength(10_000)),
  tails: v.tuple([positive, positive]),
  outer: v.optional(v.tuple([v.array(finite), v.array(finite)])),
  shares: v.optional(v.array(v.pipe(finite, v.minValue(0), v.maxValue(1)))),
});

export const specSchema = v.strictObject({
  domain: v.strictObject({
    kind: v.literal("product"),
    parts: v.pipe(v.array(part), v.minLength(1)),
  }),
  standard,
  atoms: v.optional(byName(v.tuple([whole, whole]))),
  network,
  flow: v.optional(v.looseObject({ kind: v.literal("couplings") })),
  given: v.optional(network),
  bins: v.optional(byName(binsSchema)),
  givenStandard: v.optional(standard),
  layout: v.optional(v.strictObject({ columns: v.array(v.string()), fillers: byName(filler) })),
  training: v.strictObject({ seed: count, rows: count, step: count, validation: finite }),
});

export type Spec = v.InferOutput<typeof specSchema>;
