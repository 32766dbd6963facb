/**
 * diffeo-picture/chart. Charts as SVG: panels side by side, each drawn by Observable Plot, under one title and one legend, in the house's colours
 * and font. The same options give the same text, in a page and in Node.
 */
import * as Plot from "@observablehq/plot";
import { chartDocument } from "#document";
import { escapeText, FAINT, FONT_FAMILY, INK } from "./svg.ts";

export { FAINT, Plot };

/** The colours of Okabe and Ito, which people see apart whatever colours they see. */
export const COLOURS = {
  blue: "#0072b2",
  vermilion: "#d55e00",
  green: "#009e73",
  orange: "#e69f00",
  sky: "#56b4e9",
  purple: "#cc79a7",
  grey: "#6e7781",
} as const;

export interface Panel extends Plot.PlotOptions {
  /** What stands above it. */
  readonly heading: string;
}

export interface LegendEntry {
  readonly label: string;
  readonly colour: string;
  /** Default a circle. */
  readonly symbol?: Plot.SymbolType;
}

export interface ChartOptions {
  readonly title: string;
  /** What a reader must know to read it. */
  readonly note?: string;
  /** For those who do not see it: what it shows. */
  readonly description: string;
  readonly legend?: readonly LegendEntry[];
  readonly panels: readonly Panel[];
  /** Panels a row. Default all. */
  readonly columns?: number;
  /** Of one panel, in pixels. Default 380 by 284. */
  readonly width?: number;
  readonly height?: number;
}

const SIZE = 11;
const EDGE = 14;
const LINE = 20;
const GAP = 12;
/** Where Plot begins the label of an axis. */
const INDENT = 3;
/** The width of a letter of the house's font, on average, at its size. */
const LETTER = 6.6;

/** What every panel has unless it says otherwise. */
const house: Plot.PlotOptions = { marginLeft: 46, marginRight: 10, marginTop: 28, marginBottom: 40, grid: false };

/** A plot as a group at a place, without what only a page's style sheet would read. */
function drawn(options: Plot.PlotOptions, x: number, y: number): string {
  const svg = Plot.plot({ ...options, document: chartDocument() });
  for (const style of svg.querySelectorAll("style")) style.remove();
  const content = svg.innerHTML.replaceAll("var(--plot-background)", "#ffffff");
  return `<g transform="translate(${x} ${y})" fill="currentColor" text-anchor="middle">${content}</g>`;
}

function panelAt({ heading, ...options }: Panel, width: number, height: number, x: number, y: number): string {
  const axis = { labelArrow: "none", labelAnchor: "center", tickSize: 4 } as const;
  const plot = drawn(
    {
      ...house,
      width,
      height,
      ...options,
      x: { ...axis, ...options.x },
      y: { labelArrow: "none", grid: true, tickSize: 0, ...options.y },
    },
    x,
    y + LINE,
  );
  return `${textAt(x + INDENT, y + 14, heading, 'font-weight="bold"')}${plot}`;
}

const textAt = (x: number, y: number, content: string, more = ""): string =>
  `<text x="${x}" y="${y}" ${more}>${escapeText(content)}</text>`;

/** A line with its mark, and what it stands for, entry after entry. */
function legendAt(entries: readonly LegendEntry[], x: number, y: number): string {
  let at = x;
  return entries
    .map(({ label, colour, symbol = "circle" }) => {
      const left = at;
      at += 50 + LETTER * label.length;
      const mark = drawn(
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

export function chart(options: ChartOptions): string {
  const { title, note, description, legend = [], panels, width = 380, height = 284 } = options;
  const columns = Math.min(options.columns ?? panels.length, panels.length);
  const rows = Math.ceil(panels.length / columns);
  const lines = [
    (y: number) => textAt(EDGE + INDENT, y, title, `font-weight="bold" font-size="${SIZE + 2}"`),
    ...(note === undefined ? [] : [(y: number) => textAt(EDGE + INDENT, y, note, `fill="${FAINT}"`)]),
    ...(legend.length === 0 ? [] : [(y: number) => legendAt(legend, EDGE + INDENT, y)]),
  ];
  const top = EDGE + lines.length * LINE;
  const whole = { width: 2 * EDGE + columns * (width + GAP) - GAP, height: top + rows * (LINE + height) + 4 };
  const content = [
    ...lines.map((draw, i) => draw(EDGE + 10 + i * LINE)),
    ...panels.map((panel, i) => {
      const [row, column] = [Math.floor(i / columns), i % columns];
      return panelAt(panel, width, height, EDGE + column * (width + GAP), top + 4 + row * (LINE + height));
    }),
  ].join("");
  return withOwnIds(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${whole.width}" height="${whole.height}" viewBox="0 0 ${whole.width} ${whole.height}" role="img" color="${INK}" fill="${INK}" font-family="${FONT_FAMILY}" font-size="${SIZE}"><title>${escapeText(title)}</title><desc>${escapeText(description)}</desc><rect width="100%" height="100%" fill="#ffffff"/>${content}</svg>\n`,
  );
}
