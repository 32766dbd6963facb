/** Frames of the chess page and the quantities computed from them. */
import { CLASSES, EMPTY, formatFen, parseFen, SQUARES, UNKNOWN } from "diffeo-chess";
import { describe, expect, it } from "vitest";
import { argmax, BYTES, mixtureOf, readingOf, withKnown } from "../../src/pages/chess/frames.ts";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
const unknown = new Uint8Array(SQUARES).fill(UNKNOWN);

/** A mixture with certain squares. */
function certain(fen: string): Uint8Array {
  const bytes = new Uint8Array(BYTES);
  parseFen(fen).forEach((k, square) => {
    bytes[square * CLASSES + k] = 255;
  });
  return bytes;
}

/** Every square half empty, half a white pawn. */
const torn = Uint8Array.from({ length: BYTES }, (_, i) =>
  i % CLASSES === 0 || i % CLASSES === EMPTY ? 127.5 : 0,
);

describe("a frame", () => {
  const frame = { t: 0.5, mixture: new Uint8Array([...certain(START), ...torn]) };

  it("has the most probable boards, with empty squares in a tie", () => {
    expect(formatFen(argmax(mixtureOf(frame, 0)))).toBe(START);
    expect(formatFen(argmax(mixtureOf(frame, 1)))).toBe("8/8/8/8/8/8/8/8");
  });

  it("has pieces, entropy and legality as means over its boards", () => {
    const { t, pieces, entropy, legal } = readingOf(frame, unknown);
    expect([t, pieces, legal]).toEqual([0.5, 16, 0.5]);
    // One bit per square up to the rounding of bytes, on one of two boards.
    const bit = -2 * (127 / 255) * Math.log2(127 / 255);
    expect(entropy).toBeCloseTo(32 * bit, 9);
    const known = unknown.slice().fill(EMPTY, 0, 16);
    expect(readingOf(frame, known).entropy).toBeCloseTo(24 * bit, 9);
  });

  it("shows known squares as certain before the end, and as sampled at the end", () => {
    const known = parseFen(
      "????????/????????/????????/????????/????????/????????/????????/QQQQQQQQ",
      {
        unknown: true,
      },
    );
    const shown = withKnown(frame, known);
    expect(formatFen(argmax(mixtureOf(shown, 0)))).toBe(
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/QQQQQQQQ",
    );
    expect(formatFen(argmax(mixtureOf(shown, 1)))).toBe("8/8/8/8/8/8/8/QQQQQQQQ");
    expect(withKnown({ ...frame, t: 0 }, known).mixture).toEqual(frame.mixture);
  });
});
