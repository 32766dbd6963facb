/**
 * A model's function of parameters and data by name. Where it uses what is not there, the error
 * says which names it asked for.
 */
import { DiffeoError, type Tensor } from "../graph/index.ts";
import type { Values } from "./parameters.ts";

/** Values that write down which names were asked for in vain. */
const watched = (values: Values, missed: Set<string>): Values =>
  new Proxy(values, {
    get: (target, name) => {
      if (typeof name === "string" && !Object.hasOwn(target, name)) missed.add(name);
      return Reflect.get(target, name);
    },
  });

const listed = (names: Iterable<string>): string =>
  [...names].map((name) => `"${name}"`).join(", ");

/**
 * Whether an error is one that a use of nothing raises; others are the function's own, whatever it
 * asked for before.
 */
const isOfNothing = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof DiffeoError && error.kind === "type");

/** @param what what errors call the function */
export function asked(
  what: string,
  f: (values: Values, data: Values) => Tensor,
  values: Values,
  data: Values,
): Tensor {
  const [parameters, given] = [new Set<string>(), new Set<string>()];
  try {
    return f(watched(values, parameters), watched(data, given));
  } catch (error) {
    const [missed, of, there] =
      parameters.size > 0 ? [parameters, "parameters", values] : [given, "data", data];
    if (missed.size === 0 || !isOfNothing(error)) throw error;
    const names = Object.keys(there);
    throw new DiffeoError(
      "usage",
      `${what} asks for ${listed(missed)} among the ${of}`,
      names.length > 0 ? `they are ${listed(names)}` : `there are no ${of}`,
      { cause: error },
    );
  }
}
