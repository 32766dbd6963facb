/**
 * diffeo-queue: parts of long work, described so that whoever does them gives the same bytes. What
 * does them is in node.
 */
export type { Executor, PartResult, RunOptions, Settled } from "./part/executor.ts";
export { runParts } from "./part/executor.ts";
export type { Kind, Kinds, PartWork } from "./part/kind.ts";
export { canonical, type Part, partOf, requirePart } from "./part/part.ts";
export { ofShard, parseShard, type Shard } from "./part/shard.ts";
