/** The marks of Observable Plot that the studio's charts use; the build leaves out the others. */
export { areaY, dot, line, lineY, plot, rectY, ruleX, ruleY, text } from "@observablehq/plot";
