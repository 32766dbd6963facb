/**
 * An SVG as PNG, for terminals and papers that take no SVG. Captions need a font on the machine.
 */
import { Resvg } from "@resvg/resvg-js";

const WORD =
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">w</text></svg>';

/**
 * Whether captions can be written: text for which no font is found has no extent.
 * @param system whether the fonts of the machine count
 */
export const hasFont = (system = true): boolean =>
  new Resvg(WORD, { font: { loadSystemFonts: system } }).getBBox() !== undefined;

/**
 * Renders SVG as the bytes of a PNG.
 *
 * @param zoom pixels per unit of the SVG. Default 2
 *
 * @param zoom pixels of the picture for one of the SVG
 */
export const renderPng = (svg: string, zoom = 2): Uint8Array =>
  new Resvg(svg, {
    fitTo: { mode: "zoom", value: zoom },
    font: { defaultFontFamily: "DejaVu Sans" },
  })
    .render()
    .asPng();
