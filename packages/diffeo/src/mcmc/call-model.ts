/**
 * Calls a model's function of parameters and data. Errors list the names that it reads but that are
 * missing.
 */
import { DiffeoError, type Tensor } from "../graph/index.ts";
import type { Values } from "./parameters.ts";

/** Values that record which missing names are read. */
const recordMissing = (values: Values, missed: Set<string>): Values =>
  new Proxy(values, {
    get: (target, name) => {
      if (typeof name === "string" && !Object.hasOwn(target, name)) missed.add(name);
      return Reflect.get(target, name);
    },
  });

const listed = (names: Iterable<string>): string =>
  [...names].map((name) => `"${name}"`).join(", ");

/** Whether an error comes from using undefined. Other errors are the function's own. */
const isOfUndefined = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof DiffeoError && error.kind === "type");

/** @param what the function's name in errors */
export function callModel(
  what: string,
  f: (values: Values, data: Values) => Tensor,
  values: Values,
  data: Values,
): Tensor {
  const [parameters, given] = [new Set<string>(), new Set<string>()];
  try {
    return f(recordMissing(values, parameters), recordMissing(data, given));
  } catch (error) {
    const [missed, of, there] =
      parameters.size > 0 ? [parameters, "parameters", values] : [given, "data", data];
    if (missed.size === 0 || !isOfUndefined(error)) throw error;
    const names = Object.keys(there);
    throw new DiffeoError(
      "usage",
      `${what} reads ${listed(missed)}, which the ${of} do not have`,
      names.length > 0 ? `they are ${listed(names)}` : `there are no ${of}`,
      { cause: error },
    );
  }
}
