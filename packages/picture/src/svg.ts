/** What figures share: colours, the font, and two elements of SVG. */
export const INK = "#1f2328";
export const FAINT = "#8a929c";
/** Lines behind the data. */
export const RULE = "#e4e7eb";
export const FONT = 'font-family="DejaVu Sans, Verdana, Arial, sans-serif"';

export const text = (x: number, y: number, content: string, more = ""): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${FONT} font-size="11" fill="${INK}" ${more}>${content}</text>`;

export const line = (x1: number, y1: number, x2: number, y2: number, stroke: string, more = ""): string =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${stroke}" ${more}/>`;
