/** diffeo-picture: what figures share. */
export { FAINT, FONT, INK, line, RULE, text } from "./svg.ts";
