/** SVG to PNG, for programs that do not read SVG. Text needs a font on the machine. */
import { Resvg } from "@resvg/resvg-js";

const WORD =
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">w</text></svg>';

/**
 * Whether a font is available: text without a font has no extent.
 *
 * @param system whether to use the fonts of the machine. Default yes
 */
export const hasFont = (system = true): boolean =>
  new Resvg(WORD, { font: { loadSystemFonts: system } }).getBBox() !== undefined;

/**
 * Renders SVG as PNG.
 *
 * @param zoom pixels per unit of the SVG. Default 2
 * @returns the bytes of the PNG
 */
export const renderPng = (svg: string, zoom = 2): Uint8Array =>
  new Resvg(svg, {
    fitTo: { mode: "zoom", value: zoom },
    font: { defaultFontFamily: "DejaVu Sans" },
  })
    .render()
    .asPng();
