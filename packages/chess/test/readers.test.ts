import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { Chess } from "chess.js";
import { DiffeoError } from "diffeo/graph";
import { key } from "diffeo/random";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatFen, parseFen } from "../src/board/fen.ts";
import { formatFullFen } from "../src/board/legality.ts";
import { playouts } from "../src/board/playout.ts";
import { boardAt, POSITION_BYTES, type Positions, pack } from "../src/board/position.ts";
import { PositionSet } from "../src/board/set.ts";
import { independentSquares, squareMarginals } from "../src/measure/marginals.ts";
import { readDataset, writeDataset } from "../src/node/dataset.ts";
import { readLines } from "../src/node/lines.ts";
import { readPositions, splitPositions } from "../src/node/read.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "diffeo-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** The message of the error that reading raises. */
async function complaint(path: string, options = {}): Promise<string> {
  const error = await readPositions(path, options).then(
    () => undefined,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(DiffeoError);
  expect((error as DiffeoError).kind).toBe("data");
  return (error as DiffeoError).message;
}

/** Readers do not ask how a position came about. */
const positions = independentSquares(
  squareMarginals(playouts(100, key("readers"))),
  5000,
  key("rows"),
);
const fens = Array.from({ length: positions.count }, (_, i) =>
  formatFullFen(boardAt(positions, i)),
);
const csv = (rows: readonly string[]): string =>
  `FEN,Evaluation\n${rows.map((fen, i) => `${fen},+${i}\n`).join("")}`;

describe("the Kaggle CSV", () => {
  it("is read plain and as gzip, for any name", async () => {
    const plain = await readPositions(await file("a.csv", csv(fens)));
    const zipped = await readPositions(await file("a-csv-without-extension", gzipSync(csv(fens))));
    expect(plain.positions.bytes).toEqual(positions.bytes);
    expect(zipped.positions.bytes).toEqual(positions.bytes);
    expect(plain.files).toEqual([{ name: join(folder, "a.csv"), format: "csv", rows: 5000 }]);
    expect(plain.sides).toEqual(Uint8Array.from(fens, (fen) => (fen.includes(" w ") ? 0 : 1)));
  });

  it("may have Windows line ends, quotes, a byte order mark, other columns and no final line end", async () => {
    const text = `\uFEFFid,"FEN"\r\n7,"${fens[0]}"\r\n8,${fens[1]}`;
    const { positions: read } = await readPositions(await file("b.csv", text));
    expect([formatFen(boardAt(read, 0)), formatFen(boardAt(read, 1)), read.count]).toEqual([
      formatFen(boardAt(positions, 0)),
      formatFen(boardAt(positions, 1)),
      2,
    ]);
  });

  it("keeps each placement once, in the order of the file", async () => {
    const again = [...fens.slice(0, 10), ...fens.slice(5, 20)].map((fen) =>
      fen.replace("0 1", "3 9"),
    );
    const path = await file("c.csv", csv(again));
    const read = await readPositions(path);
    expect(read.positions.bytes).toEqual(positions.bytes.slice(0, 20 * 32));
    expect(read.duplicates).toBe(5);
    expect((await readPositions(path, { distinct: false })).positions.count).toBe(25);
  });

  it("stops at a limit", async () => {
    expect(
      (await readPositions(await file("d.csv", csv(fens)), { limit: 7 })).positions.count,
    ).toBe(7);
  });

  it("names file, line and column of an illegal FEN in row 4,711, and what to do", async () => {
    const rows = fens.slice();
    // The header is line 1, so row 4,711 is line 4,712.
    rows[4710] = rows[4710].replace("/", "/x");
    const path = await file("e.csv", csv(rows));
    const column = rows[4710].indexOf("x") + 1;
    expect(await complaint(path)).toBe(
      `${path}, line 4,712, column ${column}: "x" is not a piece. Use PNBRQKpnbrqk for pieces, 1 to 8 for empty squares; or skip bad rows with \`skipBad\`.`,
    );
    const read = await readPositions(path, { skipBad: true });
    expect([read.positions.count, read.skipped]).toEqual([4999, 1]);
    expect(read.problems).toEqual([`${path}, line 4,712, column ${column}: "x" is not a piece`]);
  });

  it("reports where truncated gzip data end", async () => {
    const whole = gzipSync(csv(fens));
    const message = await complaint(await file("f.csv.gz", whole.subarray(0, whole.length >> 1)));
    expect(message).toMatch(
      /f\.csv\.gz: the gzip data end too early; [\d,]+ complete lines were read\. Download or copy/,
    );
  });

  it("reports damaged gzip data", async () => {
    const whole = gzipSync(csv(fens));
    whole.fill(0xff, 5000, 5100);
    expect(await complaint(await file("g.csv.gz", whole))).toMatch(/the gzip data are damaged/);
  });

  it("reports a wrong header", async () => {
    const path = await file("h.csv", "position,score\n8/8/8/8/8/8/8/8 w - - 0 1,3\n");
    const cause = 'line 1, column 1: the header "position,score" has no column FEN';
    expect(await complaint(path)).toContain(cause);
    expect(await complaint(path, { skipBad: true })).toContain(cause);
  });
});

describe("lists", () => {
  it("of FEN and of EPD are recognised by their first line; empty lines and comments are skipped", async () => {
    const text = `# a list\n\n${fens[0]}\n${formatFen(boardAt(positions, 1))}\n${formatFen(boardAt(positions, 2))} w - - bm e4; id "3";\n`;
    const { positions: read, sides } = await readPositions(await file("list", text));
    expect(read.bytes).toEqual(positions.bytes.slice(0, 96));
    expect([...sides.slice(1)]).toEqual([2, 0]);
  });

  it("may end their lines in \\n, \\r\\n or \\r, for any chunks of the file", async () => {
    const bytes = Buffer.from("one\r\ntwo\rthree\n\nfive\r\r\nseven\r");
    for (let size = 1; size <= bytes.length; size++) {
      const chunks = Array.from({ length: bytes.length }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      const lines: string[] = [];
      for await (const batch of readLines({
        name: "",
        head: bytes,
        chunks: Readable.from(chunks),
      })) {
        expect(batch.first).toBe(lines.length + 1);
        lines.push(...batch.lines);
      }
      expect(lines).toEqual(["one", "two", "three", "", "five", "", "seven"]);
    }
    const { positions: read } = await readPositions(await file("old", `${fens[0]}\r${fens[1]}\r`));
    expect(read.bytes).toEqual(positions.bytes.slice(0, 64));
  });

  it.each([
    ["empty.csv", "", "is empty"],
    ["little.csv", Buffer.from("\uFEFFFEN,Evaluation\n", "utf16le"), "is text in UTF-16"],
    ["big.csv.gz", gzipSync(Buffer.from("\uFEFFFEN\n", "utf16le").swap16()), "is text in UTF-16"],
    ["unmarked.csv", Buffer.from("FEN,Evaluation\n", "utf16le"), "UTF-8: iconv -f UTF-16 -t UTF-8"],
    ["empty.csv.gz", gzipSync(""), "is empty"],
    ["header.csv", "FEN,Evaluation\n", "has no positions (read as csv)"],
    ["blank.fen", "\n\n", "has no positions (read as fen)"],
    ["what", "hello world\n", "is unclear from its name and its first line"],
    [
      "lichess.pgn.zst",
      Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0),
      "is compressed with Zstandard",
    ],
  ])("without positions are refused: %s", async (name, content, cause) => {
    expect(await complaint(await file(name, content))).toContain(cause);
  });

  it("are refused if they do not exist or are folders", async () => {
    expect(await complaint(join(folder, "nowhere.fen"))).toContain("does not exist");
    expect(await complaint(folder)).toContain("is a folder");
  });
});

describe("PGN", () => {
  const game = (moves: string, tags = '[Event "A"]\n[Result "*"]\n'): string =>
    `${tags}\n${moves} *\n\n`;

  it("is replayed to a position per ply, with comments, variations, numbers and set-up positions", async () => {
    const text =
      game("1. e4 {a comment over\n[%clk 0:03:00] two lines} e5 2. Nf3 (2. f4 exf4) Nc6 $1") +
      game("1. Kd2 Kd7", '[Event "B"]\n[SetUp "1"]\n[FEN "4k3/8/8/8/8/8/8/4K3 w - - 0 1"]\n');
    const read = await readPositions(await file("a.pgn", text));
    const chess = new Chess();
    const expected = ["e4", "e5", "Nf3", "Nc6"].map((move) => {
      chess.move(move);
      return formatFen(parseFen(chess.fen()));
    });
    expected.push("4k3/8/8/8/8/8/3K4/8", "8/3k4/8/8/8/8/3K4/8");
    const found = Array.from({ length: read.positions.count }, (_, i) =>
      formatFen(boardAt(read.positions, i)),
    );
    expect(found).toEqual(expected);
    expect([...read.sides]).toEqual([1, 0, 1, 0, 1, 0]);
    expect(new Set(read.games).size).toBe(2);
  });

  it("is sampled by ply, reproducibly", async () => {
    const moves =
      "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O";
    const path = await file("b.pgn", game(moves));
    const options = { fromPly: 6, perGame: 4, key: key(1) };
    const read = await readPositions(path, options);
    expect(read.positions.count).toBe(4);
    expect(await readPositions(path, options)).toEqual(read);
    const all = PositionSet.of((await readPositions(path, { fromPly: 6 })).positions);
    expect(all.count).toBe(11);
    const words = new Uint32Array(read.positions.bytes.slice().buffer);
    for (let i = 0; i < 4; i++) expect(all.hasWords(words, 8 * i)).toBe(true);
    // Others of the next game, and of the next file.
    const found = async (...texts: readonly string[]) => {
      const paths = await Promise.all(texts.map((text, i) => file(`b${i}.pgn`, text)));
      return (await readPositions(paths, { ...options, perGame: 3, distinct: false })).positions
        .bytes;
    };
    const three = 3 * POSITION_BYTES;
    for (const bytes of [
      await found(game(moves) + game(moves)),
      await found(game(moves), game(moves)),
    ])
      expect(bytes.slice(0, three)).not.toEqual(bytes.slice(three));
  });

  it("names an illegal move, and its place", async () => {
    const path = await file("c.pgn", game("1. e4 e5") + game("1. d4 d5\n2. c4 Nf6 3. Bxh7 e6"));
    expect(await complaint(path)).toContain(
      "c.pgn, line 10, column 14: the move Bxh7 cannot be played in the game that begins on line 6",
    );
    const read = await readPositions(path, { skipBad: true });
    expect([read.positions.count, read.skipped]).toEqual([2, 1]);
  });

  it.each([
    ["a move that was played before", "1. e4 e5 2. Nf3 Nc6 3. Nf3", "4, column 24: the move Nf3"],
    [
      "a move of a variation",
      "1. e4 e5 2. Nf3 (2. Qh5 (2. f4) Nc6) Nc6 3. Qh5",
      "4, column 45: the move Qh5",
    ],
    [
      "a move in comments",
      "1. e4 {Qh4} e5 ; Qh4\n2. Nf3 $1 Qh4 3.Qh4",
      "5, column 17: the move Qh4",
    ],
    ["castling", "1. e4 e5 2. O-O", "4, column 13: the move O-O"],
    ["no PGN", "1. e4 {a} e5 2. Nf3 }", "4, column 21: the game that begins on line 1 is not PGN"],
  ])("names the place of %s", async (_, moves, place) => {
    expect(await complaint(await file("place.pgn", game(moves)))).toContain(`line ${place}`);
  });

  it.each([
    ["a { after ;", "1. e4 ; not {a comment\n e5", undefined],
    ["a ; in {}", "1. e4 {one; two} e5", undefined],
    [
      "a { that is not closed",
      "1. e4\ne5 {forgotten",
      "5, column 4: a comment is not closed in the game",
    ],
    [
      "a second one",
      "1. e4 {one} e5 {\ntwo} {three\nfour",
      "5, column 6: a comment is not closed in the game",
    ],
  ])("reads the games after %s", async (_, moves, place) => {
    const path = await file("comments.pgn", game(moves) + game("1. d4 d5") + game("1. c4 {} c5"));
    const { positions: read, skipped, problems } = await readPositions(path, { skipBad: true });
    expect([read.count, skipped]).toEqual(place ? [4, 1] : [6, 0]);
    if (place) expect(problems[0]).toContain(`line ${place} that begins on line 1`);
  });

  it("of a variant that cannot be replayed is reported as such", async () => {
    const tags =
      '[Event "A"]\n[Variant "Chess960"]\n[FEN "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w KQkq - 0 1"]\n';
    const path = await file("960.pgn", game("1. e4 e5 2. O-O", tags));
    expect(await complaint(path)).toMatch(
      /line 2, column 1: the game that begins on line 1 is Chess960, which cannot/,
    );
    expect(
      (await readPositions(await file("960a.pgn", game("1. e4 e5", tags)))).positions.count,
    ).toBe(2);
    const standard = game("1. e4 e4", '[Event "A"]\n[Variant "Standard"]\n');
    expect(await complaint(await file("standard.pgn", standard))).toContain(
      "the move e4 cannot be played",
    );
  });

  it("is split by game", async () => {
    const openings = [
      "e4",
      "d4",
      "c4",
      "Nf3",
      "g3",
      "b3",
      "f4",
      "e3",
      "d3",
      "c3",
      "h3",
      "b4",
      "g4",
    ];
    const replies = ["e5", "d5", "c5", "Nf6", "g6", "b6"];
    const text = openings
      .flatMap((o) => replies.map((r) => game(`1. ${o} ${r} 2. Na3 Na6`)))
      .join("");
    // A list in addition to the games does not split them; each of its rows is its own game.
    const list = await file("d.fen", fens.slice(0, 500).join("\n"));
    const alone = await readPositions(await file("d.pgn", text));
    const read = await readPositions([join(folder, "d.pgn"), list]);
    const { count } = alone.positions;
    expect(read.games?.slice(0, count)).toEqual(alone.games);
    expect(new Set(read.games?.slice(count)).size).toBe(read.positions.count - count);
    expect((await readPositions(list)).games).toBeUndefined();
    const { train, heldOut } = splitPositions(read, 0.3);
    expect(train.count + heldOut.count).toBe(read.positions.count);
    const aside = PositionSet.of(heldOut);
    const words = new Uint32Array(read.positions.bytes.slice().buffer);
    const sides = new Map<number, boolean>();
    for (let i = 0; i < read.positions.count; i++) {
      const game = read.games?.[i] as number;
      const held = aside.hasWords(words, 8 * i);
      expect(sides.get(game) ?? held).toBe(held);
      sides.set(game, held);
    }
    const own = new Set(alone.games).size;
    expect(own).toBe(openings.length * replies.length);
    for (const part of [[...sides.values()].slice(0, own), [...sides.values()].slice(own)]) {
      const share = part.filter(Boolean).length / part.length;
      expect(share).toBeGreaterThan(0.15);
      expect(share).toBeLessThan(0.45);
    }
  });
});

describe("a split without games", () => {
  it("depends on the placement only: the same for any order, and about the share", () => {
    const { train, heldOut } = splitPositions({ positions }, 0.2);
    expect(heldOut.count / positions.count).toBeCloseTo(0.2, 1);
    expect(train.count + heldOut.count).toBe(positions.count);
    const backwards: Positions = pack(
      Uint8Array.from(
        Array.from({ length: 200 }, (_, i) => [...boardAt(positions, 199 - i)]).flat(),
      ),
    );
    const known = PositionSet.of(heldOut);
    const words = new Uint32Array(
      splitPositions({ positions: backwards }, 0.2).heldOut.bytes.buffer,
    );
    for (let at = 0; at < words.length; at += 8) expect(known.hasWords(words, at)).toBe(true);
  });
});

describe("a file of packed positions", () => {
  it("returns what was written, and is recognised by its first bytes", async () => {
    const path = join(folder, "a.positions");
    await writeDataset(path, positions);
    expect((await readFile(path)).length).toBe(32 + 32 * positions.count);
    expect((await readDataset(path)).bytes).toEqual(Buffer.from(positions.bytes));
    const read = await readPositions(path);
    expect(read.files[0].format).toBe("positions");
    expect(read.positions.bytes).toEqual(positions.bytes);
  });

  it("replaces an older one atomically and leaves nothing else behind", async () => {
    const path = join(folder, "b.positions");
    await writeDataset(path, positions);
    await writeDataset(path, pack(parseFen("4k3/8/8/8/8/8/8/4K3")));
    expect((await readDataset(path)).count).toBe(1);
    expect((await readdir(folder)).filter((name) => name.includes("b.positions"))).toEqual([
      "b.positions",
    ]);
  });

  it.each([
    ["another file", (b: Buffer) => b.fill(65, 0, 4), "is not a file of packed positions"],
    [
      "a header cut short",
      (b: Buffer) => b.subarray(0, 20),
      "the header ends after 20 of 32 bytes",
    ],
    ["a later version", (b: Buffer) => b.fill(2, 8, 9), "has version 2 of the format"],
    [
      "an end cut off",
      (b: Buffer) => b.subarray(0, -40),
      "the header states 5000 positions, but the file has 4998.75",
    ],
    ["a changed byte", (b: Buffer) => b.fill(0, 100, 101), "the checksum does not match"],
  ])("is refused with %s", async (name, damage, cause) => {
    const path = join(folder, "c.positions");
    await writeDataset(path, positions);
    const damaged = await file(`${name}.positions`, damage(await readFile(path)));
    await expect(readDataset(damaged)).rejects.toThrow(cause);
  });

  it("is refused with a square without a class", async () => {
    const path = join(folder, "d.positions");
    await writeDataset(path, {
      count: 2,
      bytes: new Uint8Array(64).fill(0xcc, 0, 40).fill(0xdc, 40),
    });
    await expect(readDataset(path)).rejects.toThrow(
      "position 1 has a square without a class, at byte 72",
    );
  });
});

describe("lines", () => {
  const linesOf = async (chunks: Iterable<Uint8Array>): Promise<string[]> => {
    const found: string[] = [];
    let next = 1;
    const file = { name: "f", head: new Uint8Array(), chunks: Readable.from(chunks) };
    for await (const { first, lines } of readLines(file)) {
      expect(first).toBe(next);
      next += lines.length;
      found.push(...lines);
    }
    return found;
  };

  it("are the same for any division into chunks", async () => {
    const text = fc
      .array(fc.constantFrom("a", "é", "\n", "\r", "\r\n", "", "b"), { maxLength: 40 })
      .map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.integer({ min: 1, max: 5 })), async (whole, sizes) => {
        const bytes = Buffer.from(whole);
        const chunks: Uint8Array[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = sizes[i] ?? 7;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        const expected = whole.split(/\r\n|\n|\r/);
        if (expected.at(-1) === "") expected.pop();
        expect(await linesOf(chunks)).toEqual(expected);
      }),
    );
  });

  it("are refused in linear time if they do not end, before they fill the memory", async () => {
    const piece = Buffer.alloc(1 << 16, "x");
    let asked = 0;
    const endless = function* (): Generator<Uint8Array> {
      for (; asked < 1000; asked++) yield piece;
    };
    await expect(linesOf(endless())).rejects.toThrow(
      /^f: line 1 is longer than 4194304 characters/,
    );
    expect(asked).toBeLessThan(80);
    // A line of 4 MB in pieces of 100 bytes: joining them again at each would take minutes.
    const letters = Array.from({ length: 40_000 }, () => Buffer.alloc(100, "y"));
    const began = performance.now();
    expect((await linesOf([...letters, Buffer.from("\nz\n")])).map(({ length }) => length)).toEqual(
      [4_000_000, 1],
    );
    expect(performance.now() - began).toBeLessThan(5000);
  });
});
