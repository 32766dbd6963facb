/**
 * Shards of a list of jobs: the i-th of n shards has every n-th job, beginning with the i-th, so
 * that each shard has long and short jobs.
 */
import { fail } from "../graph/index.ts";

/** A shard of a list of jobs. */
export interface Shard {
  /** The number of the shard, from 1 to `of`. */
  readonly index: number;
  readonly of: number;
}

/** Parses a shard such as "3/10". */
export function parseShard(text: string): Shard {
  const [, index, of] = /^(\d{1,7})\/(\d{1,7})$/.exec(text)?.map(Number) ?? [];
  if (!(index >= 1 && index <= of))
    fail("usage", `"${text}" is not a shard`, "write i/n, with i from 1 to n, such as 3/10");
  return { index, of };
}

/** The elements of a list that belong to a shard. */
export const ofShard = <T>(all: readonly T[], { index, of }: Shard): T[] =>
  all.filter((_, i) => i % of === index - 1);
