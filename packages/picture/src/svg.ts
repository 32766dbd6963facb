/** What figures share: colours and the font. */
export const INK = "#1f2328";
/** The colour of text and lines that stay in the background. */
export const FAINT = "#6b737d";
export const FONT_FAMILY = "DejaVu Sans, Verdana, Arial, sans-serif";
/** The font of pictures, as an attribute of SVG. */
export const FONT = `font-family="${FONT_FAMILY}"`;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/**
 * What XML 1.0 allows in no document, not even as a reference: control characters but tab and line
 * ends, halves of surrogate pairs, and two that are no characters.
 */
const forbidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text that XML allows: a control character as Unicode's picture of it, the rest as �. */
export const wellFormed = (text: string): string =>
  text.replaceAll(forbidden, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
  });

/** A text between tags or quotes. */
export const escapeText = (text: string): string =>
  wellFormed(text).replaceAll(/[&<>"]/g, (c) => ENTITIES[c]);

const sizeOf = (svg: string): readonly [width: number, height: number] => {
  const [, width, height] = /^<svg[^>]* width="([\d.]+)" height="([\d.]+)"/.exec(svg) ?? [];
  return [Number(width), Number(height)];
};

/** Figures one below the other, as one. */
export function stackedFigures(figures: readonly string[]): string {
  const sizes = figures.map(sizeOf);
  const width = Math.max(...sizes.map(([w]) => w));
  let height = 0;
  const content = figures.map((svg, i) => {
    const at = height;
    height += sizes[i][1];
    return svg.trimEnd().replace(/^<svg/, `<svg x="0" y="${at}"`);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><rect width="100%" height="100%" fill="#ffffff"/>${content.join("")}</svg>\n`;
}

/** The names of colours in a page's style sheet, by what figures write. */
const properties: readonly (readonly [string, string])[] = [
  ["#ffffff", "--paper"],
  [INK, "--ink"],
  [FAINT, "--faint"],
  ["#0072b2", "--data"],
  ["#d55e00", "--samples"],
];

/**
 * A figure whose colours are custom properties of the page it stands in, so that they can follow
 * the page into the dark.
 */
export const inPage = (svg: string): string =>
  properties.reduce(
    (text, [colour, name]) => text.replaceAll(colour, `var(${name}, ${colour})`),
    svg,
  );
