/**
 * SDEs by name, so that a file can state under which SDE a network was trained. Each row has a
 * schema of the SDE's options.
 */
import * as v from "valibot";
import { lookUp } from "../host/named.ts";
import { edm } from "./edm.ts";
import { interpolant } from "./interpolant.ts";
import { ornsteinUhlenbeck } from "./ornstein.ts";
import type { GaussianSde } from "./sde.ts";
import { ve } from "./ve.ts";
import { cosineSchedule, linearSchedule, subVp, vp } from "./vp.ts";

/** @param make makes the SDE for events with `eventRank` axes */
const row = <E extends v.ObjectEntries>(
  options: E,
  make: (
    options: v.InferOutput<v.StrictObjectSchema<E, undefined>>,
    eventRank: number,
  ) => GaussianSde,
) => ({ schema: v.strictObject(options), make });

/** Omitted options have the defaults of the function that makes the SDE. */
const positive = v.optional(v.pipe(v.number(), v.finite(), v.gtValue(0)));

/** β from `min` to `max`. */
const linear = { min: positive, max: positive };

/**
 * The SDEs by their name in files and on the command line, each with the schema of its options and
 * a function that makes it. The property tests of SDEs run over all of them.
 */
export const sdes = {
  vp: row(linear, (schedule, eventRank) => vp({ schedule: linearSchedule(schedule), eventRank })),
  vpCosine: row({ offset: positive, horizon: positive }, (schedule, eventRank) =>
    vp({ schedule: cosineSchedule(schedule), eventRank }),
  ),
  subVp: row(linear, (schedule, eventRank) =>
    subVp({ schedule: linearSchedule(schedule), eventRank }),
  ),
  ve: row({ sigmaMin: positive, sigmaMax: positive }, (options, eventRank) =>
    ve({ ...options, eventRank }),
  ),
  ornsteinUhlenbeck: row(
    { rate: positive, noise: positive, horizon: positive },
    (options, eventRank) => ornsteinUhlenbeck({ ...options, eventRank }),
  ),
  edm: row({ sigmaMax: positive }, (options, eventRank) => edm({ ...options, eventRank })),
  interpolant: row({ horizon: positive }, (options, eventRank) =>
    interpolant({ ...options, eventRank }),
  ),
} as const;

type Table = typeof sdes;

/** An SDE as plain data: its name and options. */
export type SdeSpec = {
  [K in keyof Table]: { readonly kind: K } & Readonly<v.InferInput<Table[K]["schema"]>>;
}[keyof Table];

/** Makes the SDE of a spec, for events with `eventRank` axes. */
export function sdeOf(spec: SdeSpec, eventRank = 1): GaussianSde {
  const { row: found, options } = lookUp(sdes, spec, "SDE");
  return found.make(options as never, eventRank);
}
