/**
 * A model from a file of JavaScript, as statements:
 *
 *     import { halfNormal, normal } from "diffeo/distribution";
 *     import { model } from "diffeo/mcmc";
 *
 *     export default model(({ parameter, observe }) => {
 *       const mu = parameter("mu", normal(0, 10));
 *       const sigma = parameter("sigma", halfNormal(10));
 *       observe("y", normal(mu, sigma));
 *     });
 *
 * or as exports `parameters` and `logDensity`, the lower-level form.
 */
import { existsSync } from "node:fs";
import { DiffeoError, fail } from "diffeo/graph";
import type { PosteriorModel } from "diffeo/mcmc";
import { importOwn } from "../shell/own-module.ts";

/** A value from a file, with the digest of the bytes it was made from. */
export interface Digested<T> {
  readonly value: T;
  readonly digest: string;
}

export async function loadPosteriorModel(path: string): Promise<Digested<PosteriorModel>> {
  if (!existsSync(path))
    fail(
      "data",
      `${path} does not exist`,
      "give a JavaScript file whose default export is a model",
    );
  const { exports, digest } = await importOwn(path).catch((error: unknown) => {
    if (error instanceof DiffeoError) throw error;
    const typed = /\.[cm]?ts$/.test(path);
    if (typed && (error as NodeJS.ErrnoException).code === "ERR_UNKNOWN_FILE_EXTENSION")
      fail(
        "usage",
        `${path} is TypeScript, which Node ${process.versions.node} cannot load`,
        "use Node 22.18 or later, or write JavaScript in a .mjs file",
      );
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new DiffeoError(
      "data",
      `${path} cannot be loaded: ${why}`,
      "check that Node can import it",
      { cause: error },
    );
  });
  const own = (exports.default ?? exports) as Partial<PosteriorModel>;
  const { parameters, logDensity } = own;
  if (typeof parameters !== "function" && (typeof parameters !== "object" || parameters === null))
    fail(
      "usage",
      `${path} exports no model`,
      "export default model(({ parameter, observe }, data) => …), or export parameters and " +
        "logDensity",
    );
  if (typeof logDensity !== "function")
    fail(
      "usage",
      `${path} exports no function logDensity`,
      "export const logDensity = (parameters, data) => …",
    );
  return { value: { ...own, parameters, logDensity }, digest };
}
