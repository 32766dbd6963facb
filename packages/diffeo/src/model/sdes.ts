/** SDEs by name, so that a file can say under which one a network was trained: one row each, with a schema of its options. */
import * as v from "valibot";
import { cosineSchedule, type GaussianSde, linearSchedule, ornsteinUhlenbeck, subVp, ve, vp } from "../sde/index.ts";
import { named } from "./named.ts";

const positive = v.pipe(v.number(), v.finite(), v.gtValue(0));

/** @param make the SDE on events of so many axes */
const row = <E extends v.ObjectEntries>(
  options: E,
  make: (options: v.InferOutput<v.StrictObjectSchema<E, undefined>>, eventRank: number) => GaussianSde,
) => ({ schema: v.strictObject(options), make });

/** β from `min` to `max`. */
const linear = { min: v.optional(positive, 0.1), max: v.optional(positive, 20) };

export const sdes = {
  vp: row(linear, (schedule, eventRank) => vp({ schedule: linearSchedule(schedule), eventRank })),
  "vp-cosine": row(
    { offset: v.optional(positive, 0.008), horizon: v.optional(positive, 0.995) },
    (schedule, eventRank) => vp({ schedule: cosineSchedule(schedule), eventRank }),
  ),
  "sub-vp": row(linear, (schedule, eventRank) => subVp({ schedule: linearSchedule(schedule), eventRank })),
  ve: row({ sigmaMin: v.optional(positive, 0.01), sigmaMax: v.optional(positive, 50) }, (options, eventRank) =>
    ve({ ...options, eventRank }),
  ),
  "ornstein-uhlenbeck": row(
    {
      rate: v.optional(positive, 1),
      noise: v.optional(positive, Math.SQRT2),
      horizon: v.optional(positive, 5),
    },
    (options, eventRank) => ornsteinUhlenbeck({ ...options, eventRank }),
  ),
} as const;

type Table = typeof sdes;

/** An SDE by its name and options: plain data. */
export type SdeSpec = {
  [K in keyof Table]: { readonly kind: K } & Readonly<v.InferInput<Table[K]["schema"]>>;
}[keyof Table];

/** The SDE a spec names, on events of so many axes. */
export function sdeOf(spec: SdeSpec, eventRank: number): GaussianSde {
  const { row: found, options } = named(sdes, spec, "SDE");
  return found.make(options as never, eventRank);
}
