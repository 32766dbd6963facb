/**
 * diffeo-picture: helpers for SVG. Charts are in `diffeo-picture/chart`, which loads Observable
 * Plot.
 */

// For other packages of this repository; published types leave them out.

/** @internal */
export { escapeText, FAINT, FONT, INK, inPage, stackedFigures } from "./svg.ts";
