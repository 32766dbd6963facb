import { Chess } from "chess.js";
import { fold, key, uniform } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { parseFen } from "../src/board/fen.ts";
import { legalityShares } from "../src/board/legality.ts";
import { materialOf } from "../src/board/material.ts";
import { fromOf, make, toOf } from "../src/board/moves.ts";
import { drawMove, playouts } from "../src/board/playout.ts";
import { range, squareName } from "../src/board/position.ts";
import { PositionSet } from "../src/board/set.ts";
import { meanAndSd } from "../src/measure/histogram.ts";

describe("playouts", () => {
  const positions = playouts(2000, key("playouts"));

  it("are a function of the key, and a longer list begins with a shorter one", () => {
    const few = playouts(200, key("playouts"));
    expect(playouts(200, key("playouts"))).toEqual(few);
    expect(few.bytes).toEqual(range(positions, 0, 200).bytes);
    expect(playouts(200, key("others")).bytes).not.toEqual(few.bytes);
  });

  it("are distinct and legal", () => {
    expect(PositionSet.of(positions).count).toBe(2000);
    expect(legalityShares(positions).legal).toBe(1);
  });

  it("have from few pieces to all, and about equal material", () => {
    const { pieces, balance } = materialOf(positions);
    expect(Math.min(...pieces)).toBeLessThan(8);
    expect(Math.max(...pieces)).toBe(32);
    expect(meanAndSd(pieces).sd).toBeGreaterThan(6);
    expect(meanAndSd(balance).sd).toBeLessThan(3);
  });

  it("are legal games according to chess.js", () => {
    for (let game = 0; game < 3; game++) {
      const chess = new Chess();
      const board = parseFen(chess.fen());
      const draws = uniform(fold(key("a game"), game), 60, { dtype: "float64" }).data;
      for (let ply = 0; ply < draws.length; ply++) {
        const move = drawMove(board, ply % 2 === 0, draws[ply]);
        if (move === undefined) break;
        make(board, move);
        chess.move({ from: squareName(fromOf(move)), to: squareName(toOf(move)), promotion: "q" });
        expect(board).toEqual(parseFen(chess.fen()));
      }
    }
  });

  it("choose a move m with probability ∝ exp(α·[m captures] − β·√|balance after m|)", () => {
    const placement = "7k/1P6/8/8/3q4/8/8/n2R3K";
    const lead = 1 + 5 - 9 - 3;
    const weights = new Map<string, number>();
    for (const { from, to, captured, promotion } of new Chess(`${placement} w - - 0 1`).moves({
      verbose: true,
    })) {
      const after = lead + (captured === "q" ? 9 : captured === "n" ? 3 : promotion ? 9 - 1 : 0);
      weights.set(from + to, Math.exp((captured ? 2.3 : 0) - 2 * Math.sqrt(Math.abs(after))));
    }
    const total = [...weights.values()].reduce((a, b) => a + b);
    const drawn = new Map<string, number>();
    const n = 20_000;
    for (let i = 0; i < n; i++) {
      const move = drawMove(parseFen(placement), true, (i + 0.5) / n) as number;
      const name = squareName(fromOf(move)) + squareName(toOf(move));
      drawn.set(name, (drawn.get(name) ?? 0) + 1);
    }
    expect([...drawn.keys()].sort()).toEqual([...weights.keys()].sort());
    for (const [name, weight] of weights)
      expect(Math.abs((drawn.get(name) as number) - (n * weight) / total)).toBeLessThanOrEqual(1);
  });

  it("end if there is no legal move", () => {
    expect(drawMove(parseFen("k7/1Q6/1K6/8/8/8/8/8"), false, 0.5)).toBeUndefined();
  });
});
