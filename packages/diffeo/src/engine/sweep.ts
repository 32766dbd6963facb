/**
 * The elementwise end of a graph in one pass over memory. A step of training ends in Adam and the
 * average of parameters, a dozen operations on vectors as long as the network is large:
 *
 *   runtime: inputs → a, c, other results        sweep: yₖ[i] = fₖ(a[i], x[i], c)
 *
 * A runtime would read memory once per operation and allocate every result. Here they are one
 * function, whose results reuse released memory.
 */

import { runsOf } from "../graph/concat.ts";
import {
  input,
  type NdArray,
  type Shape,
  simplify,
  sizeOf,
  type Tensor,
  type Trace,
  topological,
} from "../graph/index.ts";
import { sameShape } from "../graph/ndarray.ts";
import { sliceNode } from "../graph/slice.ts";
import { is, isInput, rebuild, uniformValue } from "../graph/tensor.ts";
import { reusable } from "./device-array.ts";
import { type Expression, isInstruction, kernelOf } from "./kernel.ts";
import { keeps, type Session } from "./session.ts";

/** The least number of elements for a sweep. */
const LEAST = 4096;

type Output = Trace<unknown>["outputs"][number];

export interface Sweep {
  readonly expression: Expression;
  /**
   * The names of its arrays and numbers among the inputs and the results of the runtime; an array
   * may consist of several.
   */
  readonly operands: {
    readonly arrays: readonly (readonly string[])[];
    readonly scalars: readonly string[];
  };
  /** The results of the sweep, and the names of the others. */
  readonly swept: readonly Output[];
  readonly others: readonly string[];
  /** The outputs of the runtime: other results, and operands that are not inputs. */
  readonly rest: readonly Output[];
  /** Parts of inputs that are passed to the runtime as views. */
  readonly views: readonly {
    readonly name: string;
    readonly of: string;
    readonly from: number;
    readonly to: number;
  }[];
}

const nameOf = (t: Tensor): string => t.attributes.name as string;

/** The expression of results of one shape, as far as operations are elementwise. */
function expressionOf(results: readonly Tensor[], shape: Shape): Expression {
  const [arrays, scalars, nodes]: Tensor[][] = [[], [], []];
  const wanted = new Set(results);
  const fits = (t: Tensor): boolean => sameShape(t.shape, shape) || t.shape.length === 0;
  for (const t of topological(results).toReversed()) {
    if (!wanted.has(t)) continue;
    if (t.shape.length === 0) {
      if (uniformValue(t) === undefined) scalars.push(t);
    } else if (isInstruction(t) && t.inputs.every(fits)) {
      nodes.push(t);
      for (const operand of t.inputs) wanted.add(operand);
    } else arrays.push(t);
  }
  return { arrays, scalars, nodes: nodes.toReversed(), results };
}

/** Replaces long parts of inputs by separate inputs. */
function extractViews(outputs: readonly Output[]): Pick<Sweep, "rest" | "views"> {
  const views: Sweep["views"][number][] = [];
  const map = new Map<Tensor, Tensor>();
  for (const node of topological(outputs.map((o) => o.tensor))) {
    const [x] = node.inputs;
    if (is(node, sliceNode) && isInput(x) && x.shape.length === 1 && sizeOf(node.shape) >= LEAST) {
      const { starts, stops, steps } = node.attributes;
      if (steps[0] === 1) {
        const name = `·part${views.length}`;
        views.push({ name, of: nameOf(x), from: starts[0], to: stops[0] });
        map.set(node, input(name, node.shape, node.dtype));
        continue;
      }
    }
    const inputs = node.inputs.map((t) => map.get(t) as Tensor);
    map.set(node, inputs.every((t, i) => t === node.inputs[i]) ? node : rebuild(node, inputs));
  }
  return {
    rest: outputs.map(({ name, tensor }) => ({ name, tensor: map.get(tensor) as Tensor })),
    views,
  };
}

/** The sweep at the end of a trace over kept results, if it needs fewer arrays than it returns. */
export function sweepOf({ outputs }: Trace<unknown>, keep: readonly string[]): Sweep | undefined {
  // Most graphs keep nothing and need not be simplified here.
  const long = (tensor: Tensor): boolean => sizeOf(tensor.shape) >= LEAST;
  if (!outputs.some((o) => keeps(keep, o.name) && long(o.tensor))) return undefined;
  const simple = simplify(outputs.map((o) => o.tensor));
  const all = outputs.map(({ name }, i) => ({ name, tensor: simple[i] }));
  const able = all.filter((o) => keeps(keep, o.name) && isInstruction(o.tensor) && long(o.tensor));
  if (able.length === 0) return undefined;
  const { shape } = able[0].tensor;
  const swept = able.filter(({ tensor }) => sameShape(tensor.shape, shape));
  const expression = expressionOf([...new Set(swept.map((o) => o.tensor))], shape);
  if (expression.arrays.filter((t) => !isInput(t)).length >= expression.results.length)
    return undefined;
  const others = all.filter((o) => !swept.includes(o));
  const crossing: Output[] = [];
  const named = (tensor: Tensor): string => {
    if (isInput(tensor)) return nameOf(tensor);
    const name = `·carried${crossing.length}`;
    crossing.push({ name, tensor });
    return name;
  };
  const arrays = expression.arrays.map((t) => runsOf(t).map(named));
  const scalars = expression.scalars.map(named);
  return {
    expression,
    operands: { arrays, scalars },
    swept,
    others: others.map((o) => o.name),
    ...extractViews([...others, ...crossing]),
  };
}

/** Runs the rest on the runtime, then the sweep. */
export async function sweepSession(
  { expression: { results }, expression, operands, swept, others, rest, views }: Sweep,
  open: (traced: Trace<unknown>) => Promise<Session>,
): Promise<Session> {
  const session =
    rest.length > 0 ? await open({ inputs: [], outputs: rest, result: undefined }) : undefined;
  const size = sizeOf(results[0].shape);
  const kernel = await kernelOf(expression, size);
  const free = [...kernel.rooms];
  return {
    run: async (feeds) => {
      const parts = views.map(
        ({ name, of, from, to }) => [name, partOf(feeds[of], from, to)] as const,
      );
      const values = {
        ...feeds,
        ...(await session?.run({ ...feeds, ...Object.fromEntries(parts) })),
      };
      const of = (name: string): Float32Array => values[name].data as Float32Array;
      const into = results.map(() => free.pop() ?? new Float32Array(size));
      const arrays = operands.arrays.map((names) => names.map(of));
      kernel.run(
        arrays,
        operands.scalars.map((name) => of(name)[0]),
        into,
      );
      const made = into.map((data, i) =>
        reusable(results[i].shape, data, (done) => free.push(done)),
      );
      return {
        ...Object.fromEntries(others.map((name) => [name, values[name]])),
        ...Object.fromEntries(
          swept.map(({ name, tensor }) => [name, made[results.indexOf(tensor)]]),
        ),
      };
    },
    dispose: async () => {
      free.length = 0;
      await session?.dispose();
    },
  };
}

const partOf = ({ dtype, data }: NdArray, from: number, to: number): NdArray => ({
  shape: [to - from],
  dtype,
  data: data.subarray(from, to),
});
