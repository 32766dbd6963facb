/**
 * Networks by name. A network is one file and one row here, with its options, its parameters and
 * its function. Training, files and samplers use nothing else of it.
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

/** Parameters of any network, as a tree. */
export type Parameters<T> = Tree<T>;

interface Row {
  readonly schema: v.GenericSchema;
  /** Makes the parameters from a source. */
  readonly from: <T>(source: Source<T>, options: never) => unknown;
  /** Maps x [batch, ...grid, channels] and t [batch] to [batch, ...grid, outputs]. */
  readonly apply: (parameters: never, x: Tensor, t: Tensor, options: never) => Tensor;
  /**
   * True if the network can be applied to a grid, else a description of the grids it can be applied
   * to.
   */
  readonly takes: (options: never, grid: Shape) => true | string;
}

/** The networks by name: the schema of their options, their parameters, and their functions. */
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
  /** Its inputs are log-likelihoods, so it does not use t. */
  exchangeable: {
    schema: exchangeableSchema,
    from: exchangeableFrom,
    apply: exchangeable,
    takes: (options: ExchangeableOptions, grid: Shape) =>
      options.grid.join() === grid.join() || `its own grid, [${options.grid.join(", ")}]`,
  },
  /** For vectors; its t is a noise level, λ = log m²/σ². */
  residual: {
    schema: residualSchema,
    from: residualFrom,
    apply: residual,
    takes: (_: ResidualOptions, grid: Shape) => grid.length === 0 || "vectors, a grid of no axes",
  },
  /** For vectors, where numbers or groups of them are tokens; its t is a noise level, too. */
  columns: {
    schema: columnsSchema,
    from: columnsFrom,
    apply: columns,
    takes: (_: ColumnsOptions, grid: Shape) => grid.length === 0 || "vectors, a grid of no axes",
  },
  /**
   * The map T of a flow of vectors, without time; its log-determinant and inverse are those of
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

/** The arguments of `takes`. */
type OptionsOf<R extends Row> = R["takes"] extends (options: infer O, grid: Shape) => true | string
  ? O
  : never;

/** A network as plain data: its name and options. */
export type NetworkSpec = {
  [K in keyof Table]: { readonly kind: K } & OptionsOf<Table[K]>;
}[keyof Table];

/** A limit of the size of a network, such as the contents of a file. */
export interface Limit {
  readonly arrays: number;
  readonly numbers: number;
}

/** A network with given options: its shapes, its initial parameters and its function. */
export interface Network {
  /** The number of inputs per site. */
  readonly channels: number;
  /** The number of outputs per site. */
  readonly outputs: number;
  /** Makes initial parameters. */
  readonly init: (key: Key) => Parameters<NdArray>;
  /**
   * The shapes of its parameters, without allocating them. Throws if the network exceeds the limit.
   */
  readonly shapes: (limit?: Limit) => Parameters<Shaped>;
  readonly apply: (parameters: Parameters<Tensor>, x: Tensor, t: Tensor) => Tensor;
  /** Throws for a grid to which it cannot be applied. */
  readonly requireGrid: (grid: Shape) => void;
}

/** More than any runtime can hold; rejects accidental sizes early. */
const MOST: Limit = { arrays: 1e5, numbers: 2 ** 32 };

/** Makes the network of a spec. */
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
          `a ${spec.kind} of this size exceeds the limit of ${limit.numbers} numbers in ` +
            `${limit.arrays} arrays`,
          "use smaller sizes",
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
          `a ${spec.kind} cannot be applied to the grid [${grid.join(", ")}]`,
          `give it ${takes}, or use another network`,
        );
    },
  };
}

const isShaped = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "shape" in value && Array.isArray(value.shape);

/** Maps the shapes of a tree by `f`. */
export const mapShapes = <M>(
  tree: Parameters<Shaped>,
  f: (shape: Shape, name: string) => M,
): Parameters<M> => mapTree<Shaped, M>(tree, ({ shape }, name) => f(shape, name), isShaped);

/** The number of parameters of a network. */
export function parameterCount(parameters: Parameters<Shaped | NdArray>): number {
  return leavesOf<Shaped>(parameters, (value) => isNdArray(value) || isShaped(value)).reduce(
    (n, { shape }) => n + sizeOf(shape),
    0,
  );
}
