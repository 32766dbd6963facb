import { Chess, type Color, SQUARES as NAMES } from "chess.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAttacked } from "../src/board/attack.ts";
import { formatFen, parseFen } from "../src/board/fen.ts";
import { flawsOf, formatFullFen, isLegal, legalityShares, mayMove } from "../src/board/legality.ts";
import { fromOf, legalMoves, MOST_MOVES, make, toOf, undo } from "../src/board/moves.ts";
import { type Board, boardAt, squareName } from "../src/board/position.ts";
import { anyBoard, somePositions, sparseBoard } from "./arbitrary.ts";

const load = (board: Board, side: Color): Chess =>
  new Chess(`${formatFen(board)} ${side} - - 0 1`, { skipValidation: true });

/** Every square, both sides. */
function expectAttacksOfChessJs(board: Board): void {
  const chess = load(board, "w");
  for (let square = 0; square < 64; square++)
    for (const side of ["w", "b"] as const)
      expect(
        isAttacked(board, square, side === "w"),
        `${formatFen(board)} ${squareName(square)} by ${side}`,
      ).toBe(chess.isAttacked(NAMES[square], side));
}

/** chess.js holds one king of a colour: all but the first become queens. */
const oneKingEach = (board: Board): Board =>
  board.map((k, square) => (k % 6 === 5 && board.indexOf(k) < square ? k - 1 : k));

describe("attacks", () => {
  it("agree with chess.js on any board with one king of a colour", () => {
    const boards = fc.oneof(anyBoard, sparseBoard).map(oneKingEach);
    fc.assert(fc.property(boards, expectAttacksOfChessJs), { numRuns: 60 });
  });

  it("agree with chess.js on positions of games", async () => {
    const positions = await somePositions(60);
    for (let i = 0; i < positions.count; i++) expectAttacksOfChessJs(boardAt(positions, i));
  });
});

describe("strict legality", () => {
  it.each([
    ["4k3/8/8/8/8/8/8/4K3", []],
    ["8/8/8/8/8/8/8/8", ["kings"]],
    ["4k3/8/8/8/8/8/8/3KK3", ["kings"]],
    ["8/8/8/3kK3/8/8/8/8", ["adjacent", "checks"]],
    ["8/8/3k4/8/3K4/8/8/8", []],
    ["4k2P/8/8/8/8/8/8/4K3", ["pawns"]],
    ["4k3/8/8/8/8/8/8/4K2p", ["pawns"]],
    ["4k3/8/8/8/8/8/8/QQ2K3", []],
    ["4k3/8/8/8/8/8/PPPPPPPP/QQ2K3", ["material"]],
    ["4k3/8/8/8/8/8/PPPPPPP1/QQ2K3", []],
    ["4k3/8/8/8/8/P7/PPPPPPPP/4K3", ["material"]],
    ["4k3/8/8/8/8/8/8/QQQQQQQK", []],
    ["4k3/NNNNNNNN/8/8/8/8/NN6/4K3", []],
    ["4k3/NNNNNNNN/8/8/8/8/NNN5/4K3", ["material"]],
    ["4k3/4R3/8/8/8/8/4r3/4K3", ["checks"]],
    ["4k3/4R3/8/8/8/8/4p3/4K3", []],
    ["4k3/8/5N2/8/8/3n4/8/4K3", ["checks"]],
    ["4k3/3P4/8/8/8/8/3p4/4K3", ["checks"]],
    ["4k3/8/8/8/8/8/8/KKKKKKKK", ["kings"]],
    ["4k3/8/8/8/K7/8/PPPPPPPP/RNBQKBNR", ["kings", "material"]],
    ["4k3/8/8/8/8/PPPPPPPP/PPPPPPPP/KK6", ["kings", "material"]],
  ])("finds the flaws of %s", (fen, flaws) => {
    expect(flawsOf(parseFen(fen))).toEqual(flaws);
    expect(isLegal(parseFen(fen))).toBe(flaws.length === 0);
  });

  it("holds for positions of games", async () => {
    expect(legalityShares(await somePositions(5000))).toEqual({
      oneKingEach: 1,
      pawnsInside: 1,
      feasibleMaterial: 1,
      legal: 1,
    });
  });

  it("agrees with chess.js on whose king is in check", async () => {
    const positions = await somePositions(200);
    for (let i = 0; i < positions.count; i++) {
      const board = boardAt(positions, i);
      // The side to move is in check for chess.js where the other one may not be to move here.
      expect(mayMove(board, true)).toBe(!load(board, "b").inCheck());
      expect(mayMove(board, false)).toBe(!load(board, "w").inCheck());
    }
  });

  it("completes a FEN with a side that may be to move", () => {
    expect(formatFullFen(parseFen("4k3/8/8/8/8/8/8/4K3"))).toBe("4k3/8/8/8/8/8/8/4K3 w - - 0 1");
    expect(formatFullFen(parseFen("4k3/4R3/8/8/8/8/8/4K3"))).toBe(
      "4k3/4R3/8/8/8/8/8/4K3 b - - 0 1",
    );
    expect(formatFullFen(parseFen("4k3/8/8/8/8/8/8/4K3"), ["b", "KQ"])).toBe(
      "4k3/8/8/8/8/8/8/4K3 b KQ - 0 1",
    );
  });
});

describe("moves", () => {
  it("agree with chess.js without castling, en passant and underpromotion", async () => {
    const positions = await somePositions(120);
    const out = new Uint16Array(MOST_MOVES);
    for (let i = 0; i < positions.count; i++) {
      const board = boardAt(positions, i);
      const white = mayMove(board, true);
      const own = [...out.subarray(0, legalMoves(board, white, out))].map(
        (m) => squareName(fromOf(m)) + squareName(toOf(m)),
      );
      const theirs = load(board, white ? "w" : "b")
        .moves({ verbose: true })
        .filter((m) => m.promotion === undefined || m.promotion === "q")
        .map((m) => m.from + m.to);
      expect(own.sort(), formatFen(board)).toEqual(theirs.sort());
    }
  });

  it("can be undone", async () => {
    const positions = await somePositions(50);
    const out = new Uint16Array(MOST_MOVES);
    for (let i = 0; i < positions.count; i++) {
      const board = boardAt(positions, i);
      const before = board.slice();
      const white = mayMove(board, true);
      const moves = out.slice(0, legalMoves(board, white, out));
      for (const move of moves) {
        undo(board, move, make(board, move));
        expect(board).toEqual(before);
      }
    }
  });
});
