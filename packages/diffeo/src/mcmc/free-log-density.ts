/** The log-density in free coordinates, and derived values of draws. */
import { add, fail, input, showShape, Tensor } from "../graph/index.ts";
import type { ParameterSpace, Values } from "./parameters.ts";

function requireOneNumberEach(value: unknown, rows: number, row: string): asserts value is Tensor {
  if (!(value instanceof Tensor))
    fail(
      "type",
      `the log-density is ${value === null ? "null" : `a ${typeof value}`}`,
      `return a tensor [${row}s]`,
    );
  if (!(value.shape.length === 1 && value.shape[0] === rows))
    fail(
      "shape",
      `the log-density of ${rows} ${row}s has shape ${showShape(value.shape)}`,
      `return one number per ${row}: sum over all axes but the first`,
    );
}

/**
 * log p(φ(x)) + log|det J_φ(x)|, one number per chain. The shape is also checked for one more
 * chain: if there are as many data as chains, they broadcast by coincidence, and each chain would
 * see one datum.
 * @param row the name of a row of x in errors
 * @param ownRows whether rows of the data do belong to chains, which skips this check
 */
export const freeLogDensity =
  (
    space: ParameterSpace,
    logDensity: (values: Values) => Tensor,
    data: Values,
    row: "chain" | "draw" = "chain",
    ownRows = false,
  ) =>
  (x: Tensor): Tensor => {
    const { values, logDet } = space.enter(x, data);
    const value: unknown = logDensity(values);
    const [chains] = x.shape;
    requireOneNumberEach(value, chains, row);
    if (!ownRows)
      requireOneNumberEach(logDensity(space.enter(oneMore(x), data).values), chains + 1, row);
    return add(value, logDet);
  };

const oneMore = (x: Tensor): Tensor => input("more", [x.shape[0] + 1, x.shape[1]], x.dtype);

/**
 * Parameters and derived quantities at draws x, one value per draw; checked for one more draw, too.
 */
export function derivedValues(
  space: ParameterSpace,
  derived: Readonly<Record<string, (values: Values) => Tensor>>,
  x: Tensor,
  data: Values,
): Values {
  const [own, more] = [x, oneMore(x)].map((points) => ({
    values: space.enter(points, data).values,
    draws: points.shape[0],
  }));
  const of = (name: string, { values, draws }: typeof own): Tensor => {
    const value: unknown = derived[name](values);
    if (!(value instanceof Tensor))
      fail(
        "type",
        `derived "${name}" is ${value === null ? "null" : `a ${typeof value}`}`,
        "return a tensor [draws, …]",
      );
    if (value.shape[0] !== draws)
      fail(
        "shape",
        `derived "${name}" of ${draws} draws has shape ${showShape(value.shape)}`,
        "return one value per draw: the first axis of a parameter is that of draws",
      );
    return value;
  };
  const all = Object.fromEntries(Object.keys(derived).map((name) => [name, of(name, own)]));
  for (const name of Object.keys(derived)) of(name, more);
  return { ...own.values, ...all };
}
