/**
 * A module of the user's: a map, a model. Wherever it lies, `diffeo/…` is this program's own:
 * tensors of another copy would be strangers to it, and there need be none where the file is.
 */
import { register } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** Resolves names of the library from here, all others as ever. */
const hook = `
let from;
export const initialize = (url) => { from = url; };
export const resolve = (name, context, next) =>
  next(name, /^diffeo(\\/|$)/.test(name) ? { ...context, parentURL: from } : context);`;

export function importOwn(path: string): Promise<Record<string, unknown>> {
  register(`data:text/javascript,${encodeURIComponent(hook)}`, { data: import.meta.url });
  return import(pathToFileURL(resolve(path)).href);
}
