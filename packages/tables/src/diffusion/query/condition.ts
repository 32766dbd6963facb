/**
 * Rows given whatever was seen of them: a sum with noise, a bound, a count, as a log-likelihood ℓ
 * of the cells,
 *
 *   q(row | seen) ∝ q(row) e^{ℓ(row)}
 *
 * by the particles of `condition` (diffeo/sde), with the network of whole rows as prior. It is
 * exact in the limit of many particles for the distribution that this network draws from, and needs
 * no network of given cells.
 *
 * `given` and `complete` are the case in which cells are seen exactly and ψ_t(x) = p(x_S | X_t = x)
 * is learned instead of estimated: s + ∇ log ψ is the score of p_t(x_T | x_S), which is what the
 * network of `given.ts` predicts. So they need no particles, and know as much as that network was
 * trained to.
 */
import type { Product } from "diffeo/domain";
import {
  isNdArray,
  type NdArray,
  type Nested,
  ndarray,
  type Shape,
  slice,
  squeeze,
  type Tensor,
} from "diffeo/graph";
import { mapValues } from "diffeo/host";
import { fold, key as keyOf } from "diffeo/random";
import { openParticles } from "diffeo/sampler";
import { condition, reverse } from "diffeo/sde";
import { mapRows } from "../encode/index.ts";
import {
  LAST_LEVEL,
  type OpenedTable,
  tableMap,
  tableScore,
  tableSde,
  timeOf,
} from "../network/index.ts";
import { type DrawnRows, type DrawRows, decodedRows } from "./draw.ts";

/** How rows are sampled under what was observed. */
export interface ConditionRows extends Omit<DrawRows, "count" | "first" | "evaluations"> {
  /** How many rows are drawn and weighed against each other. Default 1,000. */
  readonly particles?: number;
  /** Steps, each an evaluation of the network and of its derivative. Default 100. */
  readonly steps?: number;
  /** The values of what was announced. */
  readonly observed?: Readonly<Record<string, NdArray | Nested>>;
}

/** The shapes of what will be observed. */
export interface TableConditionOptions {
  /**
   * Shapes, by name, of what each call brings: what was seen, say. A number has the shape [].
   * Default none.
   */
  readonly observed?: Readonly<Record<string, Shape>>;
}

/** Rows under what was seen, drawn as often as one likes. */
export type ConditionedTable = (options?: ConditionRows) => Promise<ConditionedRows>;

/** Rows under what was observed, and how many particles they rest on. */
export interface ConditionedRows extends DrawnRows {
  /**
   * Effective sample size at the end, and how many first particles the rows come from: few of
   * either means more are needed.
   */
  readonly ess: number;
  readonly ancestors: number;
  /** log of what was seen, as far as ℓ is normalised. */
  readonly logEvidence: number;
}

/** Numbers, or lists of numbers, by the names of the columns or groups they stand in. */
export type RowTensors = Readonly<Record<string, Tensor>>;

const tensorsOf = (y: Tensor, { parts }: Product): RowTensors =>
  Object.fromEntries(
    parts.map(({ name, domain: { kind, size, values }, at }) => {
      const own = slice(y, ...y.shape.slice(1).map(() => null), [at.y, at.y + size]);
      // Numbers that y holds as scores and codes.
      if (kind === "empirical" || kind === "mixed")
        return [name, squeeze(values?.(own) ?? own, -1)];
      return [name, size === 1 ? squeeze(own, -1) : own];
    }),
  );

/** ℓ of cells, by the names of their columns or groups, and of what a call tells. */
export type RowLikelihood = (
  cells: RowTensors,
  observed: Readonly<Record<string, Tensor>>,
) => Tensor;

/**
 * The table under what was seen: `logLikelihood` has one number for each column of numbers, in the
 * table's units, and gives one number per row. What changes from call to call is observed, and
 * compiles nothing; `name` is of this likelihood alone.
 *
 *     const near = model.condition(
 *       ({ a, b }, { seen }) => mul(square(sub(add(a, b), seen)), -0.5 / 0.1 ** 2),
 *       { observed: { seen: [] } },
 *     );
 *     const { rows, ess } = await near({ observed: { seen: 3 } });
 */
export function conditionTable(
  model: OpenedTable,
  name: string,
  logLikelihood: RowLikelihood,
  { observed: announced = {} }: TableConditionOptions = {},
): ConditionedTable {
  const { domain, graphs } = model;
  const phi = tableMap(model);
  const dtype = "float32";
  return async ({
    particles: count = 1000,
    steps = 100,
    seed = 0,
    observed = {},
    signal,
    onStep,
  } = {}) => {
    const { samples, ess, ancestors, logEvidence, scoreEvaluations } = await graphs.take(
      name,
      count,
      (engine) =>
        openParticles(
          (values) =>
            condition(reverse(tableSde, tableScore(model)), (x) =>
              logLikelihood(tensorsOf(phi.forward(x), domain), values),
            ),
          {
            ...engine,
            shape: [domain.dimension],
            denoise: true,
            observed: mapValues(announced, (shape) => ({ shape, dtype })),
          },
        ),
      (draw) =>
        draw({
          ...{ particles: count, steps, grid: "quadratic", tEnd: timeOf(LAST_LEVEL) },
          key: fold(keyOf(seed), "conditioned"),
          observed: mapValues(observed, (value) =>
            isNdArray(value) ? value : ndarray(value, dtype),
          ),
          ...(signal && { signal }),
          ...(onStep && { onStep: () => onStep() }),
        }),
    );
    const y = mapRows(Float64Array.from(samples.data), domain.dimension, phi.forward);
    return {
      columns: domain.columns,
      rows: decodedRows(domain, y, model.related),
      evaluations: scoreEvaluations,
      ess,
      ancestors,
      logEvidence,
    };
  };
}
