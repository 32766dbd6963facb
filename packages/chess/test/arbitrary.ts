/** Boards that fast-check draws, and real positions where they are at hand. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { key } from "diffeo/random";
import fc from "fast-check";
import { playouts } from "../src/board/playout.ts";
import type { Board, Positions } from "../src/board/position.ts";
import { readPositions } from "../src/node/read.ts";

const arrayOf = (k: fc.Arbitrary<number>): fc.Arbitrary<Board> =>
  fc.array(k, { minLength: 64, maxLength: 64 }).map((classes) => Uint8Array.from(classes));

/** Any class on any square. */
export const anyBoard = arrayOf(fc.integer({ min: 0, max: 12 }));

/** About a third of the squares occupied. */
export const sparseBoard = arrayOf(
  fc.oneof(
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 11 }) },
    { weight: 3, arbitrary: fc.constant(12) },
  ),
);

const folder = fileURLToPath(new URL("../../../../shared/data/chess/", import.meta.url));
export const realData = existsSync(folder)
  ? { positions: `${folder}positions.csv.gz`, statistics: `${folder}stats.json` }
  : undefined;

/** Real positions, or positions of random games where there are none. */
export const somePositions = async (count: number): Promise<Positions> =>
  realData
    ? (await readPositions(realData.positions, { limit: count })).positions
    : playouts(count, key("tests"));
