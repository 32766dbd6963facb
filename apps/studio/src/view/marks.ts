/**
 * The parts of Observable Plot that charts of the studio are made of: the others stay out of what a
 * reader fetches.
 */
export { areaY, dot, line, lineY, plot, rectY, ruleX, ruleY, text } from "@observablehq/plot";
