/**
 * A model from a file of JavaScript:
 *
 *     import { positive, real } from "diffeo/domain";
 *     import { add, div, expandDims, log, mul, squaredNorm, sub } from "diffeo/graph";
 *
 *     export const parameters = { mu: real(), sigma: positive() };
 *     export const logDensity = ({ mu, sigma }, { y }) =>
 *       sub(
 *         mul(squaredNorm(div(sub(y, expandDims(mu, -1)), expandDims(sigma, -1))), -0.5),
 *         mul(log(sigma), y.shape[0]),
 *       );
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { DiffeoError, fail } from "diffeo/graph";
import type { Data, PosteriorModel } from "diffeo/mcmc";
import { importOwn } from "../shell/own-module.ts";

export async function loadPosteriorModel(path: string): Promise<PosteriorModel> {
  if (!existsSync(path))
    fail("data", `there is no model ${path}`, "name a file that exports parameters and logDensity");
  const found = (await importOwn(path).catch((error: unknown) => {
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new DiffeoError(
      "data",
      `${path} cannot be loaded: ${why}`,
      "see that Node can import it",
      { cause: error },
    );
  })) as Partial<PosteriorModel>;
  const { parameters, logDensity } = found;
  if (typeof parameters !== "function" && (typeof parameters !== "object" || parameters === null))
    fail(
      "usage",
      `${path} exports no parameters`,
      "export them by name, as in export const parameters = { mu: real() }",
    );
  if (typeof logDensity !== "function")
    fail(
      "usage",
      `${path} exports no function logDensity`,
      "export const logDensity = (parameters, data) => …",
    );
  return found as PosteriorModel;
}

/** A file of JSON with data by name. */
export async function readData(path: string): Promise<Data> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new DiffeoError("data", `cannot read ${path} (${error.code})`, "check the path", {
      cause: error,
    });
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DiffeoError("data", `${path} is no JSON: ${(error as Error).message}`, "correct it", {
      cause: error,
    });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    fail("data", `${path} holds no data by name`, 'write an object, as in {"y": [1.2, 0.7]}');
  return value as Data;
}
