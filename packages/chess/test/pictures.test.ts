import { renderPng } from "diffeo-picture/node";
import { describe, expect, it } from "vitest";
import { parseFen } from "../src/board/fen.ts";
import { pack } from "../src/board/position.ts";
import { ansiBoards } from "../src/picture/ansi.ts";
import { boardPictures } from "../src/picture/pictures.ts";
import { boardSvg, sheetSvg } from "../src/picture/svg.ts";

const START = parseFen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR");

/** 64 × 13 probabilities: half a white queen and a third of a black king on a8, all else empty. */
function mixture(): Float32Array {
  const p = new Float32Array(64 * 13);
  for (let square = 1; square < 64; square++) p[13 * square + 12] = 1;
  p[4] = 1 / 2;
  p[11] = 1 / 3;
  p[12] = 1 / 6;
  return p;
}

describe("an SVG of boards", () => {
  it("places every piece on its square", () => {
    const svg = boardSvg({ board: START });
    expect(svg.match(/<use /g)).toHaveLength(32);
    expect(svg.match(/<g id="diffeo-/g)).toHaveLength(12);
    expect(svg).toContain('<use href="#diffeo-white-k" transform="translate(400 700)"/>');
    expect(svg).toContain('<use href="#diffeo-black-q" transform="translate(300 0)"/>');
  });

  it("is well-formed XML for any captions", () => {
    const svg = sheetSvg(
      [
        { board: START, caption: 'a < b & "c"\nd' },
        { board: mixture(), marked: [3] },
      ],
      { title: "<T>" },
    );
    const opened = svg.match(/<[a-z]+(\s[^<>]*[^/])?>/g) ?? [];
    const closed = svg.match(/<\/[a-z]+>/g) ?? [];
    expect(opened.length).toBe(closed.length);
    expect(svg).toContain("a &lt; b &amp; &quot;c&quot;");
    expect(svg).toContain("&lt;T&gt;");
  });

  it("draws a mixture with opacities, the most probable piece on top", () => {
    const svg = boardSvg({ board: mixture() });
    expect(svg.match(/<use [^>]*>/g)).toEqual([
      '<use href="#diffeo-black-k" transform="translate(0 0)" opacity="0.33"/>',
      '<use href="#diffeo-white-q" transform="translate(0 0)" opacity="0.50"/>',
    ]);
  });

  it("marks unknown squares", () => {
    expect(
      boardSvg({ board: parseFen("????????/8/8/8/8/8/8/8", { unknown: true }) }).match(/>\?</g),
    ).toHaveLength(8);
  });

  it("refuses arrays that are not boards", () => {
    expect(() => boardSvg({ board: new Uint8Array(63) })).toThrow("the board has 63 numbers");
    expect(() => sheetSvg([])).toThrow("the sheet has no boards");
  });

  it("converts to a PNG of its size times the zoom", () => {
    const svg = sheetSvg([{ board: START }, { board: START }], { columns: 2, size: 100 });
    const png = Buffer.from(renderPng(svg, 2));
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(svg) as RegExpExecArray;
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([
      2 * Number(width),
      2 * Number(height),
    ]);
  });
});

describe("boards in a terminal", () => {
  it("are letters without colour, as many side by side as fit", () => {
    const kings = { board: parseFen("4k3/8/8/8/8/8/8/4K3"), caption: "kings" };
    const text = ansiBoards([kings, { board: START, caption: "start" }, kings], {
      colour: false,
      width: 40,
    });
    const lines = text.split("\n").map((line) => line.trimEnd());
    expect(lines[0]).toBe(". . . . k . . .    r n b q k b n r");
    expect(lines[7]).toBe(". . . . K . . .    R N B Q K B N R");
    expect(lines[8]).toBe("kings              start");
    expect(lines[10]).toBe(". . . . k . . .");
  });

  it("have captions that wrap under their board", () => {
    const [{ caption = "" }] = boardPictures(pack(parseFen("8/8/8/3kK3/8/8/8/8")));
    expect(caption).toBe("✗ kings touch,\nboth in check");
    const picture = { board: START, caption: "✗ not one king each,\ntoo many pieces" };
    const lines = ansiBoards([picture, picture], { colour: false }).split("\n");
    expect(lines.slice(8)).toEqual([
      "✗ not one king     ✗ not one king",
      "each,              each,",
      "too many pieces    too many pieces",
      "",
    ]);
  });

  it("have coloured glyphs, and every line resets the colour", () => {
    const lines = ansiBoards([{ board: START }]).split("\n");
    expect(lines[0].match(/[♜♞♝♛♚]/gu)?.join("")).toBe("♜♞♝♛♚♝♞♜");
    for (const line of lines.slice(0, 8)) expect(line.endsWith("\u001b[0m")).toBe(true);
  });

  it("show the most probable piece of a mixture, and none if none is probable", () => {
    expect(ansiBoards([{ board: mixture() }], { colour: false }).startsWith("Q . .")).toBe(true);
  });
});
