/** An SVG as PNG, for terminals and papers that take no SVG. Captions need a font on the machine. */
import { Resvg } from "@resvg/resvg-js";

/** @param zoom pixels of the picture for one of the SVG */
export const renderPng = (svg: string, zoom = 2): Uint8Array =>
  new Resvg(svg, { fitTo: { mode: "zoom", value: zoom }, font: { defaultFontFamily: "DejaVu Sans" } }).render().asPng();
