/**
 * What figures of several plots share: a title, a note and a legend above, plots as groups at
 * places, and one SVG around all.
 */
import * as Plot from "@observablehq/plot";
import { chartDocument } from "#document";
import { escapeText, FAINT, FONT_FAMILY, INK, wellFormed } from "./svg.ts";

/** A line of a legend: a label and its mark. */
export interface LegendEntry {
  readonly label: string;
  readonly colour: string;
  /** Default a circle. */
  readonly symbol?: Plot.SymbolType;
}

/** What stands above a figure. */
export interface Heading {
  readonly title: string;
  /** What a reader must know to read it; several lines where it is a list. */
  readonly note?: string | readonly string[];
  /** For those who do not see it: what it shows. */
  readonly description: string;
  readonly legend?: readonly LegendEntry[];
}

const SIZE = 11;
export const EDGE = 14;
export const LINE = 20;
/** Where Plot begins the label of an axis. */
export const INDENT = 3;
/** The width of a letter of the house's font, on average, at its size. */
const LETTER = 6.6;

/** A plot as a group at a place, without what only a page's style sheet would read. */
export function plotGroup(options: Plot.PlotOptions, x: number, y: number): string {
  const svg = Plot.plot({ ...options, document: chartDocument() });
  for (const style of svg.querySelectorAll("style")) style.remove();
  const content = wellFormed(svg.innerHTML).replaceAll("var(--plot-background)", "#ffffff");
  return `<g transform="translate(${x} ${y})" fill="currentColor" text-anchor="middle">${content}</g>`;
}

export const textAt = (x: number, y: number, content: string, more = ""): string =>
  `<text x="${x}" y="${y}" ${more}>${escapeText(content)}</text>`;

/** A line with its mark, and what it stands for, entry after entry. */
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

/** Plot counts the ids of clips and markers on and on; here they are a chart's own. */
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

/** What is drawn below the heading: as wide and as high as it says, at the top that it is told. */
export interface Body {
  readonly width: number;
  readonly height: number;
  readonly at: (top: number) => string;
}

/** The whole figure. */
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
    `<svg xmlns="http://www.w3.org/2000/svg" width="${whole.width}" height="${whole.height}" viewBox="0 0 ${whole.width} ${whole.height}" role="img" color="${INK}" fill="${INK}" font-family="${FONT_FAMILY}" font-size="${SIZE}"><title>${escapeText(title)}</title><desc>${escapeText(description)}</desc><rect width="100%" height="100%" fill="#ffffff"/>${content}</svg>\n`,
  );
}
