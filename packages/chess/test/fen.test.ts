import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatFen, parseFen, scanFen, sideOf } from "../src/board/fen.ts";
import { formatFullFen } from "../src/board/legality.ts";
import { boardAt, pack, SQUARES, squareName, UNKNOWN, unpack } from "../src/board/position.ts";
import { anyBoard, somePositions, sparseBoard } from "./arbitrary.ts";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

describe("FEN", () => {
  it("reads the classes PNBRQKpnbrqk and empty in order, from a8 to h1", () => {
    const board = parseFen("PNBRQKpn/bqrk4/8/8/8/8/8/7K w - - 0 1");
    expect([...board.subarray(0, 16)]).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 9, 11, 12, 12, 12, 12,
    ]);
    expect(board[63]).toBe(5);
    expect([squareName(0), squareName(7), squareName(56), squareName(63)]).toEqual([
      "a8",
      "h8",
      "a1",
      "h1",
    ]);
  });

  it("reads every board that it writes", () => {
    fc.assert(
      fc.property(fc.oneof(anyBoard, sparseBoard), (board) => {
        expect(parseFen(formatFen(board))).toEqual(board);
      }),
    );
  });

  it("reproduces every placement of real games", async () => {
    const positions = await somePositions(3000);
    for (let i = 0; i < positions.count; i++) {
      const fen = formatFullFen(boardAt(positions, i));
      expect(formatFullFen(parseFen(fen))).toBe(fen);
    }
  });

  it("writes as few digits as possible", () => {
    expect(formatFen(parseFen(START))).toBe(START);
    expect(formatFen(new Uint8Array(64).fill(12))).toBe("8/8/8/8/8/8/8/8");
  });

  it("keeps unknown squares where they are allowed", () => {
    const text = "4k3/????????/8/8/2?2?2/8/8/4K3";
    const board = parseFen(text, { unknown: true });
    expect([...board].filter((k) => k === UNKNOWN)).toHaveLength(10);
    expect(formatFen(board)).toBe(text);
    expect(() => parseFen(text)).toThrow('column 5: "?" is not a piece');
  });

  it("accepts one to six fields, and operations of EPD where they are allowed", () => {
    const board = new Uint8Array(64);
    for (const rest of ["", " w", " b KQkq", " w - e3", " w Kq - 12", " b HAha - 0 31"])
      expect(scanFen(START + rest, board)).toBeUndefined();
    const epd = `${START} w KQkq - bm e4; id "start";`;
    expect(scanFen(epd, board, { operations: true })).toBeUndefined();
    expect(scanFen(epd, board)?.cause).toBe('"bm" is not a valid half-move count');
  });

  it.each([
    [' bm Qxf7+ Nf3; c0 "a; b";noop;', undefined, ""],
    [" 0 1 hmvc 0;  fmvn 1;", undefined, ""],
    [" 3 bm e4;", undefined, ""],
    [" 0 1 some garbage here", 58, "some"],
    [" 0 1 8/8/8/8/8/8/8/8 w - - 0 1", 58, "8/8/8/8/8/8/8/8"],
    [" bm e4; id", 61, "id"],
    [' id "start;', 54, "id"],
    [" 0 1 2", 58, "2"],
    [" -1 1", 54, "-1"],
  ])("accepts %j as EPD operations, or names the place of the error", (rest, column, word) => {
    const problem = scanFen(`${START} w KQkq -${rest}`, new Uint8Array(64), { operations: true });
    expect(problem && [problem.column, problem.cause]).toEqual(
      column && [column, `"${word}" is not an EPD operation`],
    );
  });

  it("reads the side to move", () => {
    const texts = [
      `${START} w - - 0 1`,
      `${START} b`,
      `${START}  b -`,
      START,
      "b7/8/8/8/8/8/8/8",
      "8/8 white",
    ];
    expect(texts.map(sideOf)).toEqual(["w", "b", "b", undefined, undefined, undefined]);
  });

  it.each([
    ["", 1, "the FEN is empty"],
    [" 8/8", 1, "the FEN begins with a space"],
    ["rnbqkbnr/ppppXppp/8/8/8/8/8/8", 14, '"X" is not a piece'],
    ["rnbqkbnr/pppp♟ppp/8/8/8/8/8/8", 14, '"♟" is not a piece'],
    ["rnbqkbnr/ppppppp/8/8/8/8/8/8", 17, "rank 7 has 7 squares, not 8"],
    ["rnbqkbnrr/8/8/8/8/8/8/8", 9, "rank 8 has more than 8 squares"],
    ["8/8/5p4/8/8/8/8/8", 7, "rank 6 has more than 8 squares"],
    ["8/8/44/8/8/8/8/8", 6, "two numbers are adjacent"],
    ["8/9/8/8/8/8/8/8", 3, '"9" is not a piece'],
    ["8/8/8/8/8/8/8", 14, "the placement ends after 7 ranks"],
    ["8/8/8/8/8/8/8/", 15, "the placement ends after 7 ranks"],
    ["8/8/8/8/8/8/8/4k", 17, "rank 1 has 5 squares, not 8"],
    ["8/8/8/8/8/8/8/8/8", 16, "a ninth rank begins"],
    [`${START} x`, 45, '"x" is not a valid side to move'],
    [`${START} w KQxq - 0 1`, 47, '"KQxq" is not a valid castling field'],
    [`${START} w KQkq e5`, 52, '"e5" is not a valid en passant field'],
    [`${START} w KQkq - -1 1`, 54, '"-1" is not a valid half-move count'],
    [`${START} w KQkq - 0 1 2`, 58, '"2" follows the sixth field'],
  ])("names the error in %j, and its column", (text, column, cause) => {
    const problem = scanFen(text, new Uint8Array(64));
    expect(problem).toMatchObject({ column, cause });
    expect(problem?.remedy).not.toBe("");
    expect(() => parseFen(text)).toThrow(`column ${column}: ${cause}`);
  });
});

describe("packing", () => {
  it("takes 32 bytes per position without loss", () => {
    fc.assert(
      fc.property(fc.array(anyBoard, { maxLength: 5 }), (boards) => {
        const classes = Uint8Array.from(boards.flatMap((b) => [...b]));
        const packed = pack(classes);
        expect(packed.bytes.length).toBe(32 * boards.length);
        expect(unpack(packed)).toEqual(classes);
        boards.forEach((board, i) => {
          expect(boardAt(packed, i)).toEqual(board);
        });
      }),
    );
  });

  it("refuses an incomplete board", () => {
    expect(() => pack(new Uint8Array(SQUARES + 32))).toThrow("96 squares are not a multiple of 64");
  });
});
