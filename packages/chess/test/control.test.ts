/** Control over samples: conditions and rejection, traces. */

import { key } from "diffeo/random";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatFen, parseFen } from "../src/board/fen.ts";
import { playouts } from "../src/board/playout.ts";
import { boardAt, CLASSES, PIECES, range, SQUARES, unpack } from "../src/board/position.ts";
import { parseCondition, requirePossible } from "../src/diffusion/condition.ts";
import { drawAccepted } from "../src/diffusion/rejection.ts";
import { type Boards, openBoards, sampleBoards } from "../src/diffusion/sample.ts";
import { type BoardTrace, quantise, serializeTrace } from "../src/diffusion/trace.ts";
import { sparseBoard } from "./arbitrary.ts";
import { countedModel, tinyModel } from "./tiny.ts";

describe("a condition on a board", () => {
  // Seven white pieces worth 1 + 3 + 3 + 5 + 9 + 9 = 30, four black ones worth 1 + 3 + 5 = 9.
  const board = parseFen("3rk3/p5n1/8/8/3BN3/8/P6Q/R3K2Q");
  it.each([
    ["legal", true],
    ["Q", true],
    ["Q=2", true],
    ["Q>2", false],
    ["q", false],
    ["q = 0", true],
    ["n!=1", false],
    ["pieces<=11", true],
    ["pieces<11", false],
    ["white=7", true],
    ["black>=5", false],
    ["balance=21", true],
    ["balance<-3", false],
  ])("%s is %s", (text, holds) => {
    expect(parseCondition(text).holds(board)).toBe(holds);
  });

  it("counts the letters of the FEN", () => {
    fc.assert(
      fc.property(sparseBoard, fc.constantFrom(...PIECES), (board, piece) => {
        const count = formatFen(board).split(piece).length - 1;
        return (
          parseCondition(`${piece}=${count}`).holds(board) &&
          parseCondition(piece).holds(board) === count > 0
        );
      }),
    );
  });

  it.each(["", "Z", "Q=", "=3", "pieces", "Q==1", "Q<>1", "Q=x", "toString=1"])(
    "is not %j",
    (text) => {
      expect(() => parseCondition(text)).toThrow(/Write legal, a piece/);
    },
  );

  it.each([
    [["pieces=100"], "no board has pieces=100. Set pieces from 0 to 64"],
    [["Q<0"], "no board has Q<0. Set Q from 0 to 64"],
    [["legal", "pieces=12", "Q", "pieces>12"], "no board has pieces=12 and pieces>12"],
    [
      ["balance>=4", "balance<4"],
      "no board has balance>=4 and balance<4. Set balance from -576 to 576",
    ],
  ])("is refused if no board can meet it: %j", async (texts, message) => {
    const conditions = texts.map(parseCondition);
    expect(() => requirePossible(conditions)).toThrow(message);
    const never = () => Promise.reject(new Error("drawn"));
    await expect(drawAccepted(never, { count: 1, conditions, batch: 1 })).rejects.toThrow(message);
  });

  it("is possible up to its bounds", () => {
    requirePossible(
      ["pieces=64", "pieces>=64", "balance>=-576", "balance<=-576", "Q", "q", "n!=1"].map(
        parseCondition,
      ),
    );
  });
});

describe("guidance", () => {
  const call = { count: 4, steps: 3, key: key("guided") };
  const drawn = (parameterisation: "posterior" | "noise", ...texts: string[]): Promise<Boards> =>
    sampleBoards(tinyModel(parameterisation), {
      ...call,
      guide: texts.map(parseCondition),
      threads: 1,
    });

  it("gives different boards from the same noise; conditions of one kind share a graph, with the same results as alone", async () => {
    const { counted, traced } = countedModel(tinyModel());
    const draw = await openBoards(counted, { threads: 1 });
    const led = async (texts: readonly string[], guideStrength = 1): Promise<Uint8Array> =>
      (await draw({ ...call, guide: texts.map(parseCondition), guideStrength })).positions.bytes;
    const few = await led(["pieces=4"]);
    const before = traced();
    const many = await led(["pieces=30"]);
    expect(many).not.toEqual(few);
    expect(traced()).toBe(before);
    // The first was alone when it was drawn.
    expect(await led(["pieces=4"])).toEqual(few);
    expect((await drawn("posterior", "pieces=30")).positions.bytes).toEqual(many);
    const two = ["Q", "balance>=3"];
    expect((await drawn("posterior", ...two)).positions.bytes).toEqual(await led(two));
    const free = (await draw(call)).positions.bytes;
    expect(await led(["pieces=4"], 0)).toEqual(free);
    expect(few).not.toEqual(free);
    await draw.dispose();
  });

  it("refuses conditions that cannot guide, and models without a posterior of classes", async () => {
    await expect(drawn("posterior", "legal")).rejects.toThrow('"legal" cannot guide');
    await expect(drawn("posterior", "Q!=1")).rejects.toThrow(
      "Guide by pieces, white, black, balance or a piece",
    );
    await expect(drawn("posterior", "Q", "Q=0")).rejects.toThrow("no board has Q and Q=0");
    await expect(drawn("noise", "Q=1")).rejects.toThrow("predicts no posterior of classes");
  });
});

describe("rejection", () => {
  const all = playouts(400, key("rejection"));
  const report = { steps: 1, rejected: 0, scoreEvaluations: 1, exits: 1, clamps: 0, times: [1, 0] };
  const draw = async (first: number, count: number): Promise<Boards> => ({
    ...report,
    positions: range(all, first, first + count),
  });
  const conditions = [parseCondition("pieces<=24"), parseCondition("Q=1")];
  const passing = Array.from({ length: 400 }, (_, i) => i).filter((i) =>
    conditions.every(({ holds }) => holds(boardAt(all, i))),
  );

  it("gives the first boards that meet all conditions, for any batch size, and reports how many were sampled", async () => {
    expect(passing.length).toBeGreaterThan(20);
    for (const batch of [1, 7, 64, 400]) {
      const { positions, drawn } = await drawAccepted(draw, {
        count: 15,
        conditions,
        tries: 400,
        batch,
      });
      expect(positions.count).toBe(15);
      expect(unpack(positions)).toEqual(
        Uint8Array.from(passing.slice(0, 15).flatMap((i) => [...boardAt(all, i)])),
      );
      expect(drawn).toBe(passing[14] + 1);
    }
  });

  it("samples rounds of one size, for which the network is compiled once", async () => {
    const sizes: number[] = [];
    const counting = (first: number, count: number): Promise<Boards> => {
      sizes.push(count);
      return draw(first, count);
    };
    await drawAccepted(counting, { count: 3, conditions, tries: 400, batch: 64 });
    await drawAccepted(counting, { count: 15, conditions, tries: 380, batch: 10 });
    expect(sizes.length).toBeGreaterThan(4);
    expect(new Set(sizes)).toEqual(new Set([8, 10]));
  });

  it("stops at the limit with the boards found so far", async () => {
    const tries = passing[4] + 1;
    const { positions, drawn } = await drawAccepted(draw, {
      count: 15,
      conditions,
      tries,
      batch: 10,
    });
    expect(positions.count).toBe(5);
    expect(drawn).toBe(tries);
    // 100 per board requested, by default.
    const never = [parseCondition("pieces=33")];
    expect((await drawAccepted(draw, { count: 3, conditions: never, batch: 50 })).drawn).toBe(300);
  });

  it("samples the requested number if there are no conditions", async () => {
    const { positions, drawn, exits } = await drawAccepted(draw, {
      count: 9,
      conditions: [],
      tries: 9,
      batch: 4,
    });
    expect([positions.count, drawn, exits]).toEqual([9, 9, 1]);
  });
});

/** The largest byte of each square. */
function likeliest(bytes: Uint8Array): number[] {
  return Array.from({ length: bytes.length / CLASSES }, (_, square) => {
    const own = bytes.subarray(square * CLASSES, (square + 1) * CLASSES);
    const most = Math.max(...own);
    expect(own.filter((byte) => byte === most)).toHaveLength(1);
    return own.indexOf(most);
  });
}

describe("a trace", () => {
  const options = { count: 5, key: key(2), steps: 12, threads: 1 } as const;

  it.each(["simplex", "logit"] as const)("ends with the boards themselves (%s)", async (space) => {
    const { positions, trace, times } = await sampleBoards(tinyModel(), {
      ...options,
      space,
      frames: 5,
    });
    const { frames, times: shown } = trace as BoardTrace;
    expect(shown).toEqual([times[1], times[5], times[8], times[12], 0]);
    for (const frame of frames) expect(frame).toHaveLength(5 * SQUARES * CLASSES);
    expect(likeliest(frames[4])).toEqual([...unpack(positions)]);
    expect(frames[0]).not.toEqual(frames[1]);
    for (let at = 0; at < frames[2].length; at += CLASSES) {
      const total = frames[2].subarray(at, at + CLASSES).reduce((a, b) => a + b, 0);
      expect(Math.abs(total - 255)).toBeLessThanOrEqual(CLASSES / 2 + 1);
    }
  });

  it("does not depend on batches, and has at most one frame per step and one for the board", async () => {
    const { threads, ...call } = options;
    const draw = await openBoards(tinyModel(), { threads });
    const whole = await draw({ ...call, frames: 4 });
    const parts = await draw({ ...call, frames: 4, batch: 4 });
    expect(parts.trace?.frames.map(likeliest)).toEqual(whole.trace?.frames.map(likeliest));
    const dense = await draw({ ...call, steps: 3, frames: 40 });
    expect(dense.trace?.times).toHaveLength(4);
    expect((await draw(call)).trace).toBeUndefined();
    await draw.dispose();
  });

  it("is a file that a page can read", async () => {
    const { positions, trace } = await sampleBoards(tinyModel(), { ...options, frames: 3 });
    const file = JSON.parse(serializeTrace(trace as BoardTrace, positions));
    expect(file).toMatchObject({
      format: "diffeo-trace-1",
      grid: [8, 8],
      boards: 5,
      times: (trace as BoardTrace).times,
    });
    const last = Uint8Array.from(atob(file.frames[2]), (c) => c.charCodeAt(0));
    expect(last).toEqual((trace as BoardTrace).frames[2]);
    const fen = (board: number): string =>
      likeliest(last.subarray(board * SQUARES * CLASSES, (board + 1) * SQUARES * CLASSES))
        .map((k) => file.classes[k])
        .join("")
        .replaceAll(/(.{8})(?!$)/g, "$1/")
        .replaceAll(/\.+/g, (run) => String(run.length));
    expect(Array.from({ length: 5 }, (_, i) => fen(i))).toEqual(file.fen);
  });

  it("keeps the most probable class in spite of rounding", () => {
    const weights = fc.array(fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })), {
      minLength: CLASSES,
      maxLength: CLASSES,
    });
    fc.assert(
      fc.property(weights, (w) => {
        const total = w.reduce((a, b) => a + b, 0) || 1;
        const p = Float32Array.from(
          w[0] + total === total ? w.map(() => 1 / CLASSES) : w,
          (v) => v / total,
        );
        const bytes = quantise(p);
        const most = Math.max(...p);
        const first = p[CLASSES - 1] === most ? CLASSES - 1 : p.indexOf(most);
        expect(likeliest(bytes)).toEqual([first]);
        p.forEach((v, i) => {
          expect(Math.abs(bytes[i] - 255 * v)).toBeLessThanOrEqual(i === first ? 1.5001 : 0.5001);
        });
      }),
    );
  });
});
