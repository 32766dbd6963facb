/**
 * Reads a typed model and its data. The model is JavaScript; it runs here, in a worker, after a
 * click. It sees `model` and the names of `diffeo/graph`, `diffeo/distribution` and
 * `diffeo/domain`, with or without `import` lines.
 */
import * as distributions from "diffeo/distribution";
import * as domains from "diffeo/domain";
import * as graph from "diffeo/graph";
import { type Data, model, type StatementModel } from "diffeo/mcmc";
import { numberColumns, parseCells } from "diffeo-tables";

const { fail, DiffeoError } = graph;

/** A name of a distribution hides the same name of a graph function, such as `gamma` or `beta`. */
const names: Readonly<Record<string, unknown>> = { ...graph, ...domains, ...distributions, model };

const IMPORT = /^[ \t]*import\s*(?:type\s*)?\{([^}]*)\}\s*from\s*["']diffeo\/[\w-]+["'];?[ \t]*$/gm;

/**
 * The model in a text.
 * @throws if the text is not a program that exports one model
 */
export function readModel(text: string): StatementModel {
  const renamed = [...text.matchAll(IMPORT)].find(([, list]) => / as /.test(list));
  if (renamed) fail("usage", "an import renames a symbol with `as`", "use the library's own names");
  const code = text.replaceAll(IMPORT, "").replace(/^[ \t]*export\s+default\s/m, "return ");
  if (/^[ \t]*(?:import|export)\b/m.test(code))
    fail(
      "usage",
      "the model imports modules other than diffeo, or has more than one export",
      "write the whole model here, with one export default model(…)",
    );
  if (!/\breturn\b/.test(code))
    fail("usage", "the model is not exported", "begin it with export default model(");
  let made: unknown;
  try {
    made = new Function(...Object.keys(names), `"use strict";\n${code}`)(...Object.values(names));
  } catch (error) {
    if (error instanceof DiffeoError) throw error;
    if (error instanceof EvalError)
      fail(
        "usage",
        "the host of this page forbids running typed code",
        "open the studio with the command diffeo studio",
      );
    const { name, message } = error as Error;
    return fail(
      "usage",
      name === "SyntaxError"
        ? `the model is not valid JavaScript: ${message}`
        : `the model fails: ${name}, ${message}`,
      "compare it with one of the examples",
    );
  }
  if (typeof made !== "object" || made === null || !("program" in made))
    fail("usage", "the export is not a model", "write export default model(…)");
  return made as StatementModel;
}

/** The data in a text: a JSON object, or CSV, whose labels become integers from 0. */
export function readData(text: string): Data {
  if (text.trim() === "") return {};
  if (/^\s*[{[]/.test(text)) {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      fail("data", `the data are not valid JSON: ${(error as Error).message}`, "correct the data");
    }
    if (typeof value !== "object" || value === null || Array.isArray(value))
      fail("data", "the data are not a JSON object", 'name each array, as in {"y": [1.2, 0.7]}');
    return value as Data;
  }
  const columns = Object.entries(numberColumns(parseCells(text, "the data")));
  return Object.fromEntries(columns.map(([name, { values }]) => [name, values]));
}
