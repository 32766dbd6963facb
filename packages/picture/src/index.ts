/**
 * diffeo-picture: what figures share. Charts have a door of their own, `diffeo-picture/chart`, for
 * what draws them is large.
 */

// For other packages of this repository; published types leave them out.

/** @internal */
export { escapeText, FAINT, FONT, INK, inPage, stackedFigures } from "./svg.ts";
