/** Calls a model's function of parameters and data; an error lists names that it lacks. */
import { DiffeoError, type Tensor } from "../graph/index.ts";
import type { Values } from "./parameters.ts";

/** Values that record the names that are read but missing. */
const recordMissing = (values: Values, missed: Set<string>): Values =>
  new Proxy(values, {
    get: (target, name) => {
      if (typeof name === "string" && !Object.hasOwn(target, name)) missed.add(name);
      return Reflect.get(target, name);
    },
  });

const listed = (names: Iterable<string>): string =>
  [...names].map((name) => `"${name}"`).join(", ");

/** Whether an error is one that the use of undefined raises; others are the function's own. */
const isOfUndefined = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof DiffeoError && error.kind === "type");

/** @param what the name of the function in errors */
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
      `${what} asks for ${listed(missed)} among the ${of}`,
      names.length > 0 ? `they are ${listed(names)}` : `there are no ${of}`,
      { cause: error },
    );
  }
}
