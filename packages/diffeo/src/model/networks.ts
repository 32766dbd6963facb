/**
 * Networks by name: a network is one file and one row here. It says what its options are, what it
 * is made of and how it is applied; training, files and samplers know nothing else of it.
 */
import type * as v from "valibot";
import {
  fail,
  isNdArray,
  leavesOf,
  mapTree,
  type NdArray,
  type Shape,
  sizeOf,
  type Tensor,
  type Tree,
} from "../graph/index.ts";
import { lookUp } from "../host/named.ts";
import type { Key } from "../random/index.ts";
import { type ColumnsOptions, columns, columnsFrom, columnsSchema } from "./columns.ts";
import {
  type CouplingFlow,
  type CouplingFlowOptions,
  couplingFlowFrom,
  couplingFlowSchema,
  normalised,
} from "./coupling-flow.ts";
import {
  type ExchangeableOptions,
  exchangeable,
  exchangeableFrom,
  exchangeableSchema,
} from "./exchangeable.ts";
import { initialise, type Shaped, type Source, shapesWithin } from "./layers.ts";
import { type ResidualOptions, residual, residualFrom, residualSchema } from "./residual.ts";
import {
  type TransformerOptions,
  transformer,
  transformerFrom,
  transformerSchema,
} from "./transformer.ts";
import { unet } from "./unet.ts";
import { type UNetOptions, unetFrom, unetSchema } from "./unet-parameters.ts";

/** Parameters of any network; the type of a network knows their structure. */
export type Parameters<T> = Tree<T>;

interface Row {
  readonly schema: v.GenericSchema;
  /** What it is made of. */
  readonly from: <T>(source: Source<T>, options: never) => unknown;
  /** x [batch, ...grid, channels] and t [batch] to [batch, ...grid, outputs]. */
  readonly apply: (parameters: never, x: Tensor, t: Tensor, options: never) => Tensor;
  /** Whether it takes such grids; if not, what it takes. */
  readonly takes: (options: never, grid: Shape) => true | string;
}

/**
 * All networks by name: the schema of their options, their parameters, and how they are applied.
 */
export const networks = {
  unet: {
    schema: unetSchema,
    from: unetFrom,
    apply: unet,
    takes: ({ multipliers, position }: UNetOptions, grid: Shape) => {
      const side = 2 ** (multipliers.length - 1);
      if (grid.length !== 2 || grid.some((d) => d % side !== 0))
        return `a grid of two axes that divide by ${side}`;
      return position && position.join() !== grid.join()
        ? `the grid of its positions, [${position.join(", ")}]`
        : true;
    },
  },
  transformer: {
    schema: transformerSchema,
    from: transformerFrom,
    apply: transformer,
    takes: (options: TransformerOptions, grid: Shape) =>
      options.grid.join() === grid.join() || `its own grid, [${options.grid.join(", ")}]`,
  },
  /** Its input are log-likelihoods, so that it has no use for t. */
  exchangeable: {
    schema: exchangeableSchema,
    from: exchangeableFrom,
    apply: exchangeable,
    takes: (options: ExchangeableOptions, grid: Shape) =>
      options.grid.join() === grid.join() || `its own grid, [${options.grid.join(", ")}]`,
  },
  /** Over vectors; its t is a level of noise, λ = log m²/σ². */
  residual: {
    schema: residualSchema,
    from: residualFrom,
    apply: residual,
    takes: (_: ResidualOptions, grid: Shape) => grid.length === 0 || "vectors, a grid of no axes",
  },
  /** Over vectors, each number or group of them a token; its t is a level likewise. */
  columns: {
    schema: columnsSchema,
    from: columnsFrom,
    apply: columns,
    takes: (_: ColumnsOptions, grid: Shape) => grid.length === 0 || "vectors, a grid of no axes",
  },
  /**
   * T of a flow, over vectors and of no time; its log-determinant and inverse are those of
   * `couplingFlow`.
   */
  couplings: {
    schema: couplingFlowSchema,
    from: couplingFlowFrom,
    apply: (parameters: CouplingFlow<Tensor>, x: Tensor, _: Tensor, options: CouplingFlowOptions) =>
      normalised(parameters, x, options).x,
    takes: (_: CouplingFlowOptions, grid: Shape) =>
      grid.length === 0 || "vectors, a grid of no axes",
  },
} as const satisfies Readonly<Record<string, Row>>;

type Table = typeof networks;

/** What `takes` is given. */
type OptionsOf<R extends Row> = R["takes"] extends (options: infer O, grid: Shape) => true | string
  ? O
  : never;

/** A network by its name and options: plain data. */
export type NetworkSpec = {
  [K in keyof Table]: { readonly kind: K } & OptionsOf<Table[K]>;
}[keyof Table];

/** How much a network may be: what a file holds, say. */
export interface Limit {
  readonly arrays: number;
  readonly numbers: number;
}

/** A network by its options: its shapes, its initial parameters and how it is applied. */
export interface Network {
  /** Numbers of a site in and out. */
  readonly channels: number;
  readonly outputs: number;
  /** Fresh parameters. */
  readonly init: (key: Key) => Parameters<NdArray>;
  /**
   * The shapes of its parameters, none of which is made; a network beyond the limit is refused
   * before it is described.
   */
  readonly shapes: (limit?: Limit) => Parameters<Shaped>;
  readonly apply: (parameters: Parameters<Tensor>, x: Tensor, t: Tensor) => Tensor;
  /** Refuses a grid that it cannot take. */
  readonly requireGrid: (grid: Shape) => void;
}

/** More than any runtime holds, so that sizes by mistake are refused in time too. */
const MOST: Limit = { arrays: 1e5, numbers: 2 ** 32 };

/** The network a spec names. */
export function networkOf(spec: NetworkSpec): Network {
  const { row, options } = lookUp(networks as Readonly<Record<string, Row>>, spec, "network");
  const { channels, outputs = channels } = options as { channels: number; outputs?: number };
  const fixed = options as never;
  return {
    channels,
    outputs,
    init: (key) => row.from(initialise(key), fixed) as Parameters<NdArray>,
    shapes: (limit = MOST) => {
      const source = shapesWithin(limit, () =>
        fail(
          "usage",
          `a ${spec.kind} of these sizes has more than ${limit.numbers} numbers in ` +
            `${limit.arrays} arrays`,
          "give smaller sizes",
        ),
      );
      return row.from(source, fixed) as Parameters<Shaped>;
    },
    apply: (parameters, x, t) => row.apply(parameters as never, x, t, fixed),
    requireGrid: (grid) => {
      const takes = row.takes(fixed, grid);
      if (takes !== true)
        fail(
          "usage",
          `a ${spec.kind} on a grid [${grid.join(", ")}]`,
          `give it ${takes}, or take another network`,
        );
    },
  };
}

const isShaped = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "shape" in value && Array.isArray(value.shape);

/** The tree of shapes with what `f` makes of each. */
export const mapShapes = <M>(
  tree: Parameters<Shaped>,
  f: (shape: Shape, name: string) => M,
): Parameters<M> => mapTree<Shaped, M>(tree, ({ shape }, name) => f(shape, name), isShaped);

/** How many numbers a network has. */
export function parameterCount(parameters: Parameters<Shaped | NdArray>): number {
  return leavesOf<Shaped>(parameters, (value) => isNdArray(value) || isShaped(value)).reduce(
    (n, { shape }) => n + sizeOf(shape),
    0,
  );
}
