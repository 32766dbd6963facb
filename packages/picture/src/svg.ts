/** Colours, font and text of SVG figures. */
export const INK = "#1f2328";
/** The colour of secondary text and lines. */
export const FAINT = "#6b737d";
export const FONT_FAMILY = "DejaVu Sans, Verdana, Arial, sans-serif";
/** The font as an attribute of SVG. */
export const FONT = `font-family="${FONT_FAMILY}"`;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/**
 * Characters that XML 1.0 forbids, even as references: control characters other than tab and line
 * ends, unpaired surrogates, U+FFFE and U+FFFF.
 */
const forbidden = new RegExp(
  [
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match them
    /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/,
    /[\ud800-\udbff](?![\udc00-\udfff])/,
    /(?<![\ud800-\udbff])[\udc00-\udfff]/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

/** Replaces forbidden characters: control characters by Unicode's pictures of them, others by �. */
export const wellFormed = (text: string): string =>
  text.replaceAll(forbidden, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
  });

/** Escapes text for use between tags or in quotes. */
export const escapeText = (text: string): string =>
  wellFormed(text).replaceAll(/[&<>"]/g, (c) => ENTITIES[c]);

const sizeOf = (svg: string): readonly [width: number, height: number] => {
  const [, width, height] = /^<svg[^>]* width="([\d.]+)" height="([\d.]+)"/.exec(svg) ?? [];
  return [Number(width), Number(height)];
};

/** Stacks figures vertically in one SVG. */
export function stackedFigures(figures: readonly string[]): string {
  const sizes = figures.map(sizeOf);
  const width = Math.max(...sizes.map(([w]) => w));
  let height = 0;
  const content = figures.map((svg, i) => {
    const at = height;
    height += sizes[i][1];
    return svg.trimEnd().replace(/^<svg/, `<svg x="0" y="${at}"`);
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}"><rect width="100%" height="100%" fill="#ffffff"/>` +
    `${content.join("")}</svg>\n`
  );
}

/** The custom property of a page for each colour of a figure. */
const properties: readonly (readonly [string, string])[] = [
  ["#ffffff", "--paper"],
  [INK, "--ink"],
  [FAINT, "--faint"],
  ["#0072b2", "--data"],
  ["#d55e00", "--samples"],
];

/**
 * Replaces the colours of a figure by custom properties of its page, which may have a dark theme.
 */
export const inPage = (svg: string): string =>
  properties.reduce(
    (text, [colour, name]) => text.replaceAll(colour, `var(${name}, ${colour})`),
    svg,
  );
