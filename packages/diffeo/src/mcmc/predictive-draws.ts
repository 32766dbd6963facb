/** Samples from a model of statements: parameters from the prior, observations given parameters. */
import type { Distribution } from "../distribution/index.ts";
import type { Domain } from "../domain/index.ts";
import type { CompileOptions } from "../engine/index.ts";
import {
  constant,
  fail,
  input,
  reference,
  type Shape,
  sizeOf,
  type Tensor,
  topological,
} from "../graph/index.ts";
import { mapValues } from "../host/index.ts";
import { fold, type Keys } from "../random/index.ts";
import { type Data, dataArrays } from "./data.ts";
import type { Declaration, Limits, Run } from "./declarations.ts";
import type { StatementModel } from "./notation.ts";
import type { Values } from "./parameters.ts";
import { atRows, type Rows } from "./rows.ts";
import { isDomain, run } from "./statements.ts";

/** The device and the data of predictions. */
export interface RunOptions extends Pick<CompileOptions, "device" | "threads"> {
  readonly data?: Data;
}

/**
 * The data as tensors. If the model declares shapes, only the names it declares; observations may
 * be missing.
 */
export const tensorsOf = (model: StatementModel, data: Data): Values => {
  const { data: shapes } = model;
  const named = shapes
    ? Object.fromEntries(Object.entries(data).filter(([name]) => Object.hasOwn(shapes, name)))
    : data;
  return mapValues(dataArrays(named), (array) => constant(array, "float64"));
};

/** Runs the program with a free value for every parameter. */
export const freeRun = (model: StatementModel, data: Values): Run =>
  run(model.program, data, ({ name, shape }) => input(name, shape ?? [], "float64"), true);

const isFree = (t: Tensor): boolean => topological([t]).some((node) => node.op.name === "input");

/** Samples of a distribution whose parameters depend on rows of values. */
async function drawAt(
  distribution: Distribution,
  again: (one: Values) => Distribution,
  rows: Rows,
  keys: Keys,
  batch: Shape,
  options: RunOptions,
): Promise<(keys: Keys) => Float64Array> {
  const { parameters } = distribution;
  const free = parameters.map(isFree);
  const fixed = reference(
    parameters.filter((_, i) => !free[i]),
    new Map(),
  );
  const moved = free.includes(true)
    ? await atRows(
        (one) =>
          Object.fromEntries(
            again(one).parameters.flatMap((t, i) => (free[i] ? [[String(i), t] as const] : [])),
          ),
        rows,
        keys.count,
        options,
      )
    : {};
  let next = 0;
  const whole = free.map((moves) => (moves ? undefined : fixed[next++]));
  const numbers = (row: number): Float64Array[] =>
    free.map((_, i) => {
      const own = whole[i];
      if (own) return own;
      const { shape, data } = moved[String(i)];
      const size = sizeOf(shape.slice(1));
      return data.subarray(row * size, (row + 1) * size);
    });
  return (drawn) => distribution.drawFrom(drawn, numbers, batch);
}

/** The most samples of a value until it is inside the parameter's domain. */
const TRIES = 10_000;

/** Which of the values, blocks of numbers, are in a domain or within limits. */
async function insideOf(
  { name, domain, prior, shape = [] }: Declaration,
  again: (one: Values) => Limits,
  rows: Rows,
  count: number,
  options: RunOptions,
): Promise<
  { readonly size: number; inside(values: Float64Array, at: number): boolean } | undefined
> {
  if (isDomain(domain)) {
    if (domain === (prior?.support as Domain | undefined)) return undefined;
    const { cells, fault } = domain;
    return {
      size: cells,
      inside: (values, at) => fault(Array.from(values.subarray(at, at + cells))) === undefined,
    };
  }
  if (domain === (prior?.support as unknown)) return undefined;
  const sides = (["above", "below"] as const).filter((side) => domain[side] !== undefined);
  const size = sizeOf(shape);
  const limits = await atRows(
    (one) =>
      Object.fromEntries(
        sides.map((side) => {
          const bound = again(one)[side] as Tensor | number;
          return [side, typeof bound === "number" ? constant(bound, "float64") : bound];
        }),
      ),
    Object.keys(rows).length > 0
      ? rows
      : { [name]: { shape: [count], data: new Float64Array(count) } },
    count,
    options,
  );
  return {
    size: 1,
    inside: (values, at) =>
      sides.every((side) => {
        const { shape: own, data } = limits[side];
        const each = sizeOf(own.slice(1));
        const row = Math.floor(at / size);
        const bound = data[each === 1 ? row : row * each + ((at % size) % each)];
        return side === "above" ? values[at] > bound : values[at] < bound;
      }),
  };
}

/** Thrown to stop a run at a declaration. */
class Found extends Error {
  readonly declaration: Declaration;
  constructor(declaration: Declaration) {
    super(`internal: ${declaration.name}`);
    this.declaration = declaration;
  }
}

const declarationAt = (
  model: StatementModel,
  data: Values,
  name: string,
  one: Values,
): Declaration => {
  try {
    run(
      model.program,
      data,
      (declaration) => {
        if (declaration.name === name) throw new Found(declaration);
        return one[declaration.name];
      },
      true,
    );
  } catch (error) {
    if (error instanceof Found) return error.declaration;
    throw error;
  }
  return fail(
    "usage",
    `parameter("${name}") was not declared again`,
    "declare the same parameters in every run",
  );
};

/** Samples one parameter's prior, given rows of the parameters before it. */
export async function drawPrior(
  model: StatementModel,
  data: Values,
  declaration: Declaration,
  rows: Rows,
  keys: Keys,
  options: RunOptions,
): Promise<Float64Array> {
  const { name, prior, shape = [] } = declaration;
  if (!prior)
    return fail(
      "usage",
      `parameter("${name}") has a flat density, which cannot be sampled`,
      "give it a prior distribution, such as normal(0, 10)",
    );
  const at = (one: Values): Declaration => declarationAt(model, data, name, one);
  const batch = shape.slice(0, shape.length - prior.event.length);
  const draw = await drawAt(
    prior,
    (one) => at(one).prior as Distribution,
    rows,
    keys,
    batch,
    options,
  );
  const out = draw(fold(keys, name));
  const limits = await insideOf(
    declaration,
    (one) => at(one).domain as Limits,
    rows,
    keys.count,
    options,
  );
  if (!limits) return out;
  const { size, inside } = limits;
  for (let tried = 0; ; tried++) {
    const open: number[] = [];
    for (let i = 0; i < out.length; i += size) if (!inside(out, i)) open.push(i);
    if (open.length === 0) return out;
    if (tried === TRIES)
      fail(
        "numerical",
        `parameter("${name}"): some samples of its prior were outside its domain ${TRIES} times`,
        "give a prior with more mass in the domain",
      );
    const again = draw(fold(fold(keys, name), tried));
    for (const i of open) out.set(again.subarray(i, i + size), i);
  }
}

/** Samples all observations, given rows of all parameters. */
export async function drawObservations(
  model: StatementModel,
  data: Values,
  found: Run,
  rows: Rows,
  keys: Keys,
  options: RunOptions,
): Promise<Rows> {
  const out: Record<string, { shape: Shape; data: Float64Array }> = {};
  for (const [k, { name, distribution, batch }] of found.observations.entries()) {
    const again = (one: Values): Distribution =>
      run(model.program, data, (declaration) => one[declaration.name], true).observations[k]
        .distribution;
    const own = fold(keys, `observe ${name}`);
    const draw = await drawAt(distribution, again, rows, own, batch, options);
    out[name] = { shape: [keys.count, ...batch, ...distribution.event], data: draw(own) };
  }
  return out;
}
