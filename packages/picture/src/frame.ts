/**
 * Figures of several plots in one SVG: title, notes and legend at the top, then plots as groups.
 */
import * as Plot from "@observablehq/plot";
import { chartDocument } from "#document";
import { escapeText, FAINT, FONT_FAMILY, INK, wellFormed } from "./svg.ts";

/** An entry of a legend: a label and its mark. */
export interface LegendEntry {
  readonly label: string;
  readonly colour: string;
  /** Default a circle. */
  readonly symbol?: Plot.SymbolType;
}

/** The texts and the legend at the top of a figure. */
export interface Heading {
  readonly title: string;
  /** How to read the figure, in one or several lines. */
  readonly note?: string | readonly string[];
  /** The text alternative. */
  readonly description: string;
  readonly legend?: readonly LegendEntry[];
}

const SIZE = 11;
export const EDGE = 14;
export const LINE = 20;
/** The distance from the edge at which Plot puts the label of an axis. */
export const INDENT = 3;
/** Average width of a letter at this size. */
const LETTER = 6.6;

/** A plot as an SVG group at a position, without style sheets. */
export function plotGroup(options: Plot.PlotOptions, x: number, y: number): string {
  const svg = Plot.plot({ ...options, document: chartDocument() });
  for (const style of svg.querySelectorAll("style")) style.remove();
  const content = wellFormed(svg.innerHTML).replaceAll("var(--plot-background)", "#ffffff");
  return (
    `<g transform="translate(${x} ${y})" fill="currentColor" ` +
    `text-anchor="middle">${content}</g>`
  );
}

export const textAt = (x: number, y: number, content: string, more = ""): string =>
  `<text x="${x}" y="${y}" ${more}>${escapeText(content)}</text>`;

/** The marks and labels of a legend, in one line. */
function legendAt(entries: readonly LegendEntry[], x: number, y: number): string {
  let at = x;
  return entries
    .map(({ label, colour, symbol = "circle" }) => {
      const left = at;
      at += 50 + LETTER * label.length;
      const mark = plotGroup(
        {
          width: 24,
          height: 16,
          margin: 0,
          axis: null,
          x: { domain: [0, 1] },
          y: { domain: [0, 1] },
          marks: [
            Plot.ruleY([0.5], { stroke: colour, strokeWidth: 2 }),
            Plot.dot([[0.5, 0.5]], { symbol, fill: colour, r: 4 }),
          ],
        },
        left,
        y - 12,
      );
      return `${mark}${textAt(left + 30, y, label)}`;
    })
    .join("");
}

/**
 * Replaces the ids of clips and markers, which Plot numbers globally, by ids from a hash of the
 * figure: the same figure has the same text, and two figures in a page do not share ids.
 */
function withOwnIds(svg: string): string {
  let hash = 0x811c9dc5; // FNV-1a
  const plain = svg.replaceAll(/plot-(clip|marker)-\d+/g, "plot-$1");
  for (let i = 0; i < plain.length; i++) hash = Math.imul(hash ^ plain.charCodeAt(i), 0x01000193);
  const own = new Map<string, string>();
  return svg.replaceAll(/plot-(?:clip|marker)-\d+/g, (id) => {
    const name = own.get(id) ?? `c${(hash >>> 0).toString(36)}-${own.size + 1}`;
    own.set(id, name);
    return name;
  });
}

/** The part of a figure below the heading; `at` draws it from a given y. */
export interface Body {
  readonly width: number;
  readonly height: number;
  readonly at: (top: number) => string;
}

/** A complete figure as SVG. */
export function framed(
  { title, note = [], description, legend = [] }: Heading,
  body: Body,
): string {
  const notes = typeof note === "string" ? [note] : note;
  const lines = [
    (y: number) => textAt(EDGE + INDENT, y, title, `font-weight="bold" font-size="${SIZE + 2}"`),
    ...notes.map((text) => (y: number) => textAt(EDGE + INDENT, y, text, `fill="${FAINT}"`)),
    ...(legend.length === 0 ? [] : [(y: number) => legendAt(legend, EDGE + INDENT, y)]),
  ];
  const top = EDGE + lines.length * LINE;
  const longest = Math.max(title.length, ...notes.map((text) => text.length));
  const width = 2 * EDGE + Math.max(body.width, Math.ceil(LETTER * longest));
  const whole = { width, height: top + body.height };
  const content = [...lines.map((draw, i) => draw(EDGE + 10 + i * LINE)), body.at(top)].join("");
  return withOwnIds(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${whole.width}" height="${whole.height}" ` +
      `viewBox="0 0 ${whole.width} ${whole.height}" role="img" color="${INK}" fill="${INK}" ` +
      `font-family="${FONT_FAMILY}" font-size="${SIZE}"><title>${escapeText(title)}</title>` +
      `<desc>${escapeText(description)}</desc>` +
      `<rect width="100%" height="100%" fill="#ffffff"/>${content}</svg>\n`,
  );
}
