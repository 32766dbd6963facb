/** What figures share: colours and the font. */
export const INK = "#1f2328";
export const FAINT = "#6b737d";
export const FONT_FAMILY = "DejaVu Sans, Verdana, Arial, sans-serif";
export const FONT = `font-family="${FONT_FAMILY}"`;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** A text between tags or quotes. */
export const escapeText = (text: string): string => text.replaceAll(/[&<>"]/g, (c) => ENTITIES[c]);
