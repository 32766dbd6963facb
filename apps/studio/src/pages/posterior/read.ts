/**
 * A model and its data as a reader types them. The model is JavaScript in the notation of the
 * guide, run here, in the worker, after a click: it sees the names of `diffeo/graph`,
 * `diffeo/distribution`, `diffeo/domain` and `model`, and `import` lines may stay or be left out.
 */
import * as distributions from "diffeo/distribution";
import * as domains from "diffeo/domain";
import * as graph from "diffeo/graph";
import { type Data, model, type StatementModel } from "diffeo/mcmc";
import { parseCells } from "diffeo-tables";

const { fail, DiffeoError } = graph;

/** Names of distributions come before those of graphs, `gamma` and `beta` among them. */
const names: Readonly<Record<string, unknown>> = { ...graph, ...domains, ...distributions, model };

const IMPORT = /^[ \t]*import\s*(?:type\s*)?\{([^}]*)\}\s*from\s*["']diffeo\/[\w-]+["'];?[ \t]*$/gm;

/** The model of a text. */
export function readModel(text: string): StatementModel {
  const renamed = [...text.matchAll(IMPORT)].find(([, list]) => / as /.test(list));
  if (renamed)
    fail("usage", "an import gives another name", "use the names of the library as they are");
  const code = text.replaceAll(IMPORT, "").replace(/^[ \t]*export\s+default\s/m, "return ");
  if (/^[ \t]*(?:import|export)\b/m.test(code))
    fail(
      "usage",
      "the model imports something else than diffeo, or exports more than one thing",
      "write all of it here, with one export default model(…)",
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
        "the host of this page does not let it run code that is typed in",
        "open the studio with diffeo studio",
      );
    const { name, message } = error as Error;
    return fail(
      "usage",
      `the model cannot be read: ${name === "SyntaxError" ? "" : `${name}, `}${message}`,
      "compare it with one of the examples",
    );
  }
  if (typeof made !== "object" || made === null || !("program" in made))
    fail("usage", "what is exported is not a model", "write export default model(…)");
  return made as StatementModel;
}

/** Data of a text: an object of JSON, or CSV, whose labels become integers from 0. */
export function readData(text: string): Data {
  if (text.trim() === "") return {};
  if (/^\s*[{[]/.test(text)) {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      fail("data", `the data are not JSON: ${(error as Error).message}`, "correct them");
    }
    if (typeof value !== "object" || value === null || Array.isArray(value))
      fail("data", "the data have no names", 'write an object, as in {"y": [1.2, 0.7]}');
    return value as Data;
  }
  const { columns, rows, lines } = parseCells(text, "the data");
  return Object.fromEntries(
    columns.map((name, j) => {
      const cells = rows.map((row) => row[j]);
      const empty = cells.indexOf("");
      if (empty >= 0)
        fail(
          "data",
          `line ${lines[empty]}, column ${name} is empty`,
          "fill it in, or drop the row",
        );
      const numbers = cells.map(Number);
      if (numbers.every(Number.isFinite)) return [name, numbers];
      const labels = [...new Set(cells)].sort();
      return [name, cells.map((cell) => labels.indexOf(cell))];
    }),
  );
}
