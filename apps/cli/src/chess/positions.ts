/** Positions from files, or from random games so that commands run without data. */
import { fold, key } from "diffeo/random";
import type { Positions } from "diffeo-chess";
import { playouts } from "diffeo-chess";
import { readPositions } from "diffeo-chess/node";
import type { Io } from "../shell/io.ts";

export interface PositionsOptions {
  readonly seed: number;
  readonly skipBad?: boolean;
  /** The note that is printed if no files are given. */
  readonly without: string;
}

export async function positionsOf(
  io: Io,
  files: readonly string[] | undefined,
  { seed, skipBad = false, without }: PositionsOptions,
): Promise<Positions> {
  if (files) return (await readPositions(files, { skipBad, stdin: io.stdin })).positions;
  io.stderr.write(`${without}\n`);
  return playouts(20_000, fold(key(seed), "playouts"));
}
