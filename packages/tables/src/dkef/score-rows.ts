/**
 * A fitted density on rows y, where x = ψ(y) = (y − mean) W is the space of the fit:
 *
 *   log q(y) = log p̃(x) − log Ẑ + log|det W|      ∇_y log q = W ∇_x log p̃      (Theorem 1, pulled back through ψ)
 */
import { compile } from "diffeo/engine";
import { fail, gradEach, sub, type Tensor } from "diffeo/graph";
import { partsOf } from "diffeo/host";
import { dkefLogDensity } from "diffeo/model";
import { pulledScore, pullLogDensity } from "diffeo/score";
import { type Selection, selectColumns, type Table } from "../table/table.ts";
import { whiteningMap } from "../table/whitening.ts";
import type { DensityModel } from "./model-bytes.ts";
import { parametersOf } from "./steps.ts";

/** Log-density and score of rows. */
export interface RowScores {
  readonly logDensity: Float64Array;
  /** ∇ log q, one row per row of the table. */
  readonly score: Float64Array;
}

/** Rows per call; memory grows with them. */
const PART = 1000;

/** The columns a model was fitted to, in its order. */
export const modelColumns =
  ({ spec }: DensityModel): Selection =>
  ({ source, columns }) =>
    spec.columns.map((name) => {
      const at = columns.indexOf(name);
      if (at < 0)
        fail(
          "data",
          `${source} has no column "${name}", which the model needs`,
          "give a table with this column",
        );
      return at;
    });

/**
 * Log-densities and scores of rows, in the units of the table.
 *
 * @throws DiffeoError of kind `data` if columns of the model are missing, or if the model has no
 * normaliser
 */
export async function scoreRows(model: DensityModel, table: Table): Promise<RowScores> {
  const { spec, fitted } = model;
  const { logZ, whitening } = spec;
  if (logZ === undefined)
    fail(
      "data",
      "the model has no normaliser, because numbers were lost in its fit",
      "fit again; sampling works without it",
    );
  const n = spec.columns.length;
  const { values } = selectColumns(table, modelColumns(model));
  const psi = whiteningMap(whitening);
  const evaluate = compile(
    (t: Tensor, a: Tensor, y: Tensor) => {
      const p = parametersOf(t, fitted.parameters);
      const density = (x: Tensor): Tensor => sub(dkefLogDensity(p, a, x), logZ);
      return {
        value: pullLogDensity(psi, y, density(psi.forward(y))),
        score: pulledScore(psi, gradEach(density))(y),
      };
    },
    [[fitted.theta.length], [fitted.alpha.length], [null, n]],
    { type: "float64", threads: 1 },
  );
  try {
    const theta = Float64Array.from(fitted.theta);
    const found = {
      logDensity: new Float64Array(table.rows),
      score: new Float64Array(values.length),
    };
    for (const [from, to] of partsOf(table.rows, PART)) {
      const { value, score } = await evaluate(theta, fitted.alpha, values.slice(from * n, to * n));
      found.logDensity.set(value.data as Float64Array, from);
      found.score.set(score.data as Float64Array, from * n);
    }
    return found;
  } finally {
    await evaluate.dispose();
  }
}
