/**
 * Reads positions from files of any format as a stream. Each placement is kept once, bad rows throw
 * or are counted, and positions are split into training and held-out ones: by game if games are
 * known, else by a hash of the placement.
 */
import type { Readable } from "node:stream";
import { DiffeoError, fail } from "diffeo/graph";
import { fold, type Key, key } from "diffeo/random";
import type { TextProblem } from "../board/fen.ts";
import {
  type LineWalk,
  type Sink,
  type TextFormat,
  textFormat,
  walkCsv,
  walkFen,
} from "../board/formats.ts";
import { walkPgn } from "../board/pgn.ts";
import { type Positions, pack, select, unpack, wordsOf } from "../board/position.ts";
import { hashWords, PositionSet } from "../board/set.ts";
import { datasetFormat, decodeDataset } from "./dataset.ts";
import { type OpenFile, openFile, readLines } from "./lines.ts";

/** A format of files of positions. */
export type Format = TextFormat | "positions";

/** Options for reading positions from files. */
export interface ReadOptions {
  /** The format of all files. Default: by each file's name or content. */
  readonly format?: Format;
  /** Count bad rows instead of throwing at the first. Default false. */
  readonly skipBad?: boolean;
  /** Keep each placement once. Default true. */
  readonly distinct?: boolean;
  /** Stop after this many positions. */
  readonly limit?: number;
  /** PGN: the first ply to take. Default 1. */
  readonly fromPly?: number;
  /** PGN: how many random plies to take per game. Default all. */
  readonly perGame?: number;
  /** The stream that chooses plies. Default key(0). */
  readonly key?: Key;
  /** The stream for the path `-`. Default: standard input. */
  readonly stdin?: Readable;
}

/** Positions that were read, and counts of what was skipped. */
export interface Reading {
  readonly positions: Positions;
  /** The side to move of each: 0 white, 1 black, 2 unknown. */
  readonly sides: Uint8Array;
  /**
   * The game number of each position, if there are games. A position without one is its own game.
   */
  readonly games?: Uint32Array;
  readonly files: readonly {
    readonly name: string;
    readonly format: Format;
    readonly rows: number;
  }[];
  /** Rows that repeat an earlier placement. */
  readonly duplicates: number;
  /** Bad rows that were skipped, and the problems of the first few. */
  readonly skipped: number;
  readonly problems: readonly string[];
}

const SHOWN_PROBLEMS = 5;

/** Reads one file or several. */
export async function readPositions(
  paths: string | readonly string[],
  options: ReadOptions = {},
): Promise<Reading> {
  const { skipBad = false, distinct = true, limit = Infinity, key: plies = key(0) } = options;
  const set = new PositionSet();
  const kept: Uint8Array[] = [];
  const sides: number[] = [];
  const games: (number | undefined)[] = [];
  const problems: string[] = [];
  const files: { name: string; format: Format; rows: number }[] = [];
  let duplicates = 0;
  let skipped = 0;
  for (const [i, path] of (typeof paths === "string" ? [paths] : paths).entries()) {
    const file = await openFile(path, options.stdin);
    const entry = { name: file.name, format: formatOf(file, options.format), rows: 0 };
    files.push(entry);
    const sink: Sink = {
      get full() {
        return sides.length >= limit;
      },
      row: (board, side, game) => {
        entry.rows++;
        if (distinct && !set.add(board)) return void duplicates++;
        if (!distinct) kept.push(pack(board).bytes);
        sides.push(side === "w" ? 0 : side === "b" ? 1 : 2);
        games.push(game);
      },
      bad: (line, problem) => {
        const text =
          `${file.name}, line ${line.toLocaleString("en")}, column ` +
          `${problem.column}: ${problem.cause}`;
        if (!skipBad) throw new DiffeoError("data", text, remedyFor(problem, entry.rows));
        skipped++;
        if (problems.length < SHOWN_PROBLEMS) problems.push(text);
      },
    };
    await walkOf(entry.format, file, { ...options, key: fold(plies, i) })(readLines(file), sink);
    if (entry.rows === 0 && !sink.full) nothingRead(file, entry.format, problems);
  }
  const positions = distinct ? set.positions() : { count: kept.length, bytes: Buffer.concat(kept) };
  const words = wordsOf(positions);
  return {
    positions,
    sides: Uint8Array.from(sides),
    ...(games.some((game) => game !== undefined) && {
      games: Uint32Array.from(games, (game, i) => game ?? hashWords(words, 8 * i)),
    }),
    files,
    duplicates,
    skipped,
    problems,
  };
}

/** After good rows a bad row can be skipped; before any, the file may have another format. */
const remedyFor = ({ remedy }: TextProblem, rows: number): string =>
  rows > 0 ? `${remedy}; or skip bad rows with \`skipBad\`` : remedy;

function formatOf(file: OpenFile, wanted: Format | undefined): Format {
  if (file.head.length === 0)
    fail(
      "data",
      `${file.name} is empty`,
      "give a file with positions: CSV with a FEN column, FEN, EPD or PGN",
    );
  if (wanted) return wanted;
  const text = new TextDecoder().decode(file.head);
  return (
    datasetFormat(file.head) ??
    textFormat(file.name, text) ??
    fail(
      "data",
      `the format of ${file.name} is unclear from its name and its first line`,
      "set the format: csv, fen, pgn or positions",
    )
  );
}

function walkOf(
  format: Format,
  file: OpenFile,
  options: ReadOptions & { readonly key: Key },
): LineWalk {
  if (format === "csv") return walkCsv;
  if (format === "fen") return walkFen;
  if (format === "pgn") return walkPgn(options);
  return async (_, sink) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of file.chunks) chunks.push(chunk);
    const boards = unpack(decodeDataset(Buffer.concat(chunks), file.name));
    for (let at = 0; at < boards.length && !sink.full; at += 64)
      sink.row(boards.subarray(at, at + 64), undefined);
  };
}

function nothingRead(file: OpenFile, format: Format, problems: readonly string[]): never {
  fail(
    "data",
    problems.length > 0
      ? `${file.name}: every row is bad; the first: ${problems[0]}`
      : `${file.name} has no positions (read as ${format})`,
    "check the file, or set another format",
  );
}

/** Holds out about `share` of the games, or of the placements if games are not known. */
export function splitPositions(
  reading: Pick<Reading, "positions" | "games">,
  share: number,
): { readonly train: Positions; readonly heldOut: Positions } {
  const { train, heldOut } = splitRows(reading, share);
  return { train: select(reading.positions, train), heldOut: select(reading.positions, heldOut) };
}

/** The same as indices of positions. */
export function splitRows(
  { positions, games }: Pick<Reading, "positions" | "games">,
  share: number,
): { readonly train: readonly number[]; readonly heldOut: readonly number[] } {
  if (!(share >= 0 && share < 1))
    fail("usage", `the held-out share is ${share}`, "use a number from 0 up to 1");
  const words = wordsOf(positions);
  const game = new Uint32Array(1);
  const train: number[] = [];
  const heldOut: number[] = [];
  for (let i = 0; i < positions.count; i++) {
    if (games) game[0] = games[i];
    const hash = games ? hashWords(game, 0, SPLIT_SEED, 1) : hashWords(words, 8 * i, SPLIT_SEED);
    (hash < share * 2 ** 32 ? heldOut : train).push(i);
  }
  return { train, heldOut };
}

/** A seed other than the hash table's, so that the split does not follow its slots. */
const SPLIT_SEED = 0x5eed;
