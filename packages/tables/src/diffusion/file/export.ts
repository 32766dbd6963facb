/**
 * A model of a table as ONNX, weights and all. What it is drawn with is two files:
 *
 *   score    ∇ log p_t(x)              of x [batch, n] and t [batch], in float32
 *   denoise  x̂₀ = E[x₀ | x] = m x − σ v̂     of the same
 *   rows     y = φ(x)                  of x [batch, n], in float64, where parts of 10⁻³⁰⁰ are
 *                                      still parts
 *
 * Shapes of a graph are concrete, so a file serves one number of rows. Its metadata say what the
 * numbers are: the spec of the model, where each column is in x and in y, how time runs and at
 * which t rows are data.
 */
import {
  div,
  expandDims,
  type FloatType,
  fail,
  log,
  mul,
  type OnnxModel,
  type Shape,
  sub,
  type Tensor,
  trace,
  writeOnnx,
} from "diffeo/graph";
import {
  type FittedTable,
  LAST_LEVEL,
  predictorOf,
  tableMap,
  tableScore,
  tableSde,
  timeOf,
} from "../network/index.ts";
import { tableMetadata } from "./model-bytes.ts";

/** A function of x, and of t where it has one. */
interface TableExport {
  readonly type: FloatType;
  readonly inputs: readonly ("x" | "t")[];
  readonly of: (model: FittedTable) => (x: Tensor, t: Tensor) => Tensor;
}

function tableMean(model: FittedTable): (x: Tensor, t: Tensor) => Tensor {
  const predict = predictorOf(model);
  const { meanFactor, std } = tableSde.transition;
  return (x, t) => {
    const [m, sigma] = [meanFactor(t), std(t)];
    const v = predict(x, mul(log(div(m, sigma)), 2));
    return sub(mul(x, expandDims(m, -1)), mul(v, expandDims(sigma, -1)));
  };
}

const ofNetwork = { type: "float32", inputs: ["x", "t"] } as const;

/** What can be exported. */
export const tableExports = {
  score: { ...ofNetwork, of: tableScore },
  denoise: { ...ofNetwork, of: tableMean },
  rows: { type: "float64", inputs: ["x"], of: (model) => tableMap(model).forward },
} as const satisfies Readonly<Record<string, TableExport>>;

/** The name of a function of a model that can be exported. */
export type TableExportName = keyof typeof tableExports;

const exportNamed = (what: TableExportName): TableExport =>
  Object.hasOwn(tableExports, what)
    ? tableExports[what]
    : fail(
        "usage",
        `a table has no output "${what}"`,
        `export one of ${Object.keys(tableExports).join(", ")}`,
      );

/** What is exported, as a function of x and t; rows are one of x alone. */
export const exportedTable = (
  model: FittedTable,
  what: TableExportName,
): ((x: Tensor, t: Tensor) => Tensor) => exportNamed(what).of(model);

/** Where each part of a row is. */
const placesOf = ({ domain: { parts } }: FittedTable) =>
  parts.map(({ name, columns, domain: { kind, dimension, size }, at }) => ({
    name,
    columns,
    kind,
    ...{ x: [at.x, at.x + dimension], y: [at.y, at.y + size] },
  }));

/** Which function of a model is exported, for how many rows. */
export interface ExportTableOptions {
  /** Default "score". */
  readonly what?: TableExportName;
  /** Rows of a run. Default 1,024. */
  readonly batch?: number;
}

/** The bytes of an ONNX file, and its inputs and outputs. */
export function exportTable(
  model: FittedTable,
  { what = "score", batch = 1024 }: ExportTableOptions = {},
): OnnxModel {
  if (!(Number.isSafeInteger(batch) && batch >= 1))
    fail("usage", `batch is ${batch}`, "give an integer, at least 1");
  const { type, inputs: names } = exportNamed(what);
  const f = exportedTable(model, what);
  const shapes: Readonly<Record<"x" | "t", Shape>> = {
    x: [batch, model.domain.dimension],
    t: [batch],
  };
  const { outputs, inputs } = trace(
    (x: Tensor, t: Tensor) => ({ [what]: f(x, t) }),
    names.map((name) => shapes[name]),
    type,
    names,
  );
  const metadata = {
    ...tableMetadata(model),
    columns: JSON.stringify(placesOf(model)),
    process: `${tableSde.name}, t from 0 to ${tableSde.horizon}`,
    last: String(timeOf(LAST_LEVEL)),
  };
  return writeOnnx(outputs, "cpu", metadata, inputs);
}
