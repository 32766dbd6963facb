/**
 * A learned last link of φ: w = T⁻¹(x) with T a flow of couplings (diffeo/model) that takes
 * standardised points w to something like N(0, I), by maximum likelihood,
 *
 *   log p(w) = log N(T(w)) + log|det J_T(w)| → max,
 *
 * on rows that training sees, with a little noise. The score network then works in x = T(w). The
 * flow transforms numbers only: labels and other atoms pass through it unchanged. The network of
 * given cells (`given.ts`) stays in w, where its subspaces are.
 */
import { type Bijector, invert } from "diffeo/bijector";
import { compile } from "diffeo/engine";
import type { NdArray, Tensor } from "diffeo/graph";
import { batches } from "diffeo/host";
import {
  asConstants,
  type CouplingFlow,
  type CouplingFlowOptions,
  couplingFlow,
  normalised,
  type Parameters,
} from "diffeo/model";
import { codedRanges } from "../encode/index.ts";
import type { Graphs } from "./graphs.ts";
import type { Coordinates } from "./head.ts";

/** T as plain data. */
export interface Flow {
  readonly network: { readonly kind: "couplings" } & CouplingFlowOptions;
  readonly parameters: Parameters<NdArray>;
}

/** The kinds of flows: what a coupling does to a coordinate. */
export const flowKinds = ["affine", "spline"] as const;
/** The name of a kind of flow. */
export type FlowKind = (typeof flowKinds)[number];

/** Rows that pass at once. */
const PART = 4096;

const tensorsOf = ({ parameters }: Flow): CouplingFlow<Tensor> =>
  asConstants<CouplingFlow<Tensor>>(parameters);

/** T⁻¹, x ↦ w. */
export const flowMap = (flow: Flow): Bijector =>
  invert(couplingFlow(tensorsOf(flow), flow.network));

/** The coordinates that a flow transforms. */
export const flowing = ({ domain, atoms = {} }: Coordinates): readonly number[] => {
  const coded = codedRanges(domain, atoms);
  return [...Array(domain.dimension).keys()].filter(
    (i) => !coded.some(([from, to]) => i >= from && i < to),
  );
};

interface Through {
  /** T(w), and log|det J_T| of each row. */
  readonly x: Float64Array;
  readonly logDet: Float64Array;
}

/** What a function gives of rows of n numbers, each result as one array, in float64. */
async function byRows<K extends string>(
  graphs: Graphs,
  graph: string,
  rows: Float64Array,
  n: number,
  f: (rows: Tensor) => Readonly<Record<K, Tensor>>,
): Promise<Record<K, Float64Array>> {
  const count = rows.length / n;
  const whole = {} as Record<K, Float64Array>;
  for (const [from, some] of batches(count, Math.min(count, PART))) {
    const found = await graphs.take(
      graph,
      some,
      ({ threads }) => compile(f, [[null, n]], { type: "float64", threads }),
      (run) =>
        run({ shape: [some, n], dtype: "float64", data: rows.slice(from * n, (from + some) * n) }),
    );
    for (const [name, { data }] of Object.entries(found) as [K, NdArray][]) {
      const size = data.length / some;
      whole[name] ??= new Float64Array(count * size);
      whole[name].set(data as Float64Array, from * size);
    }
  }
  return whole;
}

/** T of standardised points. */
export const intoFlow = (flow: Flow, w: Float64Array, graphs: Graphs): Promise<Through> =>
  byRows(graphs, "into the flow", w, flow.network.channels, (rows) =>
    normalised(tensorsOf(flow), rows, flow.network),
  );

/** T⁻¹ of what a model drew. */
export const outOfFlow = async (
  flow: Flow,
  x: Float64Array,
  graphs: Graphs,
): Promise<Float64Array> =>
  (
    await byRows(graphs, "out of the flow", x, flow.network.channels, (rows) => ({
      w: flowMap(flow).forward(rows),
    }))
  ).w;
