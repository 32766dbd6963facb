/**
 * The i-th of n shards of a list of jobs: every n-th, beginning with the i-th, so that each has
 * long and short ones.
 */
import { fail } from "../graph/index.ts";

/** A shard of a list of jobs. */
export interface Shard {
  /** From 1 to `of`. */
  readonly index: number;
  readonly of: number;
}

/** "3/10" */
export function parseShard(text: string): Shard {
  const [, index, of] = /^(\d{1,7})\/(\d{1,7})$/.exec(text)?.map(Number) ?? [];
  if (!(index >= 1 && index <= of))
    fail("usage", `"${text}" is not a shard`, "write i/n with i from 1 to n, such as 3/10");
  return { index, of };
}

/** The elements of a list that belong to a shard. */
export const ofShard = <T>(all: readonly T[], { index, of }: Shard): T[] =>
  all.filter((_, i) => i % of === index - 1);
