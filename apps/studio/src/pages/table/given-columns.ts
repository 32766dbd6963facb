/** Controls for the cells that samples can be given. */
import { quantiles } from "diffeo/host";
import { allCells, type TableModel } from "diffeo-tables";
import type { Cell, GivenColumn, OpenTable } from "./shapes.ts";

/** The control of a column, from its cells. */
function givenColumn(
  name: string,
  labels: readonly Cell[] | undefined,
  isWhole: boolean,
  cells: readonly Cell[],
): GivenColumn {
  if (labels) return { name, labels, low: 0, high: 0, step: 1, middle: labels[0] };
  const [low, middle, high] = quantiles(Float64Array.from(cells, Number), [0.005, 0.5, 0.995]);
  if (isWhole)
    return {
      name,
      low: Math.floor(low),
      high: Math.ceil(high),
      middle: Math.round(middle),
      step: 1,
    };
  // A power of ten, so that the range has some hundreds of steps.
  const step = 10 ** Math.floor(Math.log10(Math.max(high - low, 1e-300)) - 2);
  const down = (v: number): number => Number((Math.floor(v / step) * step).toPrecision(12));
  return { name, low: down(low), high: down(high + step), middle: down(middle), step };
}

/**
 * The controls for given cells of a model.
 * @param known complete rows of the table; with fewer than ten, samples of the model replace them
 */
export async function givenParts(
  model: TableModel,
  known: readonly (readonly Cell[])[],
): Promise<OpenTable["given"]> {
  const { domain, related, layout, sample } = model;
  const rows = known.length >= 10 ? known : allCells(model, (await sample({ count: 500 })).rows);
  // Columns derived for a rule are not in the table.
  const parts = (related?.domain ?? domain).parts.filter(
    ({ columns }) => !related || !layout || columns.every((name) => layout.columns.includes(name)),
  );
  return parts.map(({ domain: own, columns, at }) => {
    const labels = own.spec?.kind === "category" ? own.spec.labels : undefined;
    return {
      kind: own.kind,
      columns: columns.map((name, k) =>
        givenColumn(
          name,
          labels,
          own.kind === "integer",
          rows.map((row) => row[at.cells + k]),
        ),
      ),
    };
  });
}
