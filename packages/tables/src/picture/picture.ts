/**
 * Pictures of densities in two dimensions: the data, then for each model its density in shades and
 * its score as arrows.
 */

import { fail } from "diffeo/graph";
import { FAINT, FONT, INK } from "diffeo-picture";
import type { DensityModel } from "../dkef/model-bytes.ts";
import { modelColumns, scoreRows } from "../dkef/score-rows.ts";
import { columnOf, selectColumns, type Table } from "../table/table.ts";

const SIDE = 300;
const GAP = 16;
const TITLE = 26;
const CELLS = 100;
const ARROWS = 17;

interface Frame {
  readonly low: readonly [number, number];
  readonly high: readonly [number, number];
}

/** The data's range and a margin. */
function frameOf(table: Table): Frame {
  const range = (j: number): [number, number] => {
    const values = columnOf(table, j);
    const [low, high] = values.reduce(
      ([a, b], v) => [Math.min(a, v), Math.max(b, v)],
      [Infinity, -Infinity],
    );
    if (low === high)
      fail(
        "data",
        `${table.source}: column "${table.columns[j]}" is ${low} in every row, so it has no ` +
          "range to draw",
        "give the table that the models were fitted to",
      );
    return [low - 0.15 * (high - low), high + 0.15 * (high - low)];
  };
  const [x, y] = [range(0), range(1)];
  return { low: [x[0], y[0]], high: [x[1], y[1]] };
}

const place = ({ low, high }: Frame, x: number, y: number): [number, number] => [
  ((x - low[0]) / (high[0] - low[0])) * SIDE,
  ((high[1] - y) / (high[1] - low[1])) * SIDE,
];

/** Points of a grid of cells, row by row from the top. */
function gridTable(frame: Frame, cells: number, columns: readonly string[]): Table {
  const values = new Float64Array(2 * cells * cells);
  for (let i = 0; i < cells * cells; i++) {
    const [column, row] = [(i % cells) + 0.5, Math.floor(i / cells) + 0.5];
    values[2 * i] = frame.low[0] + (column / cells) * (frame.high[0] - frame.low[0]);
    values[2 * i + 1] = frame.high[1] - (row / cells) * (frame.high[1] - frame.low[1]);
  }
  return { source: "grid", columns, rows: cells * cells, values };
}

const dots = (points: Float64Array, frame: Frame): string => {
  const marks: string[] = [];
  for (let i = 0; i < points.length; i += 2) {
    const [x, y] = place(frame, points[i], points[i + 1]);
    marks.push(`M${x.toFixed(1)} ${y.toFixed(1)}h0`);
  }
  return (
    `<path d="${marks.join("")}" stroke="#1f5fa8" stroke-opacity="0.5" stroke-width="2.2" ` +
    'stroke-linecap="round"/>'
  );
};

const SHADES = 40;

/** White for zero density to deep blue for the largest, in steps too small to be seen. */
const shadeOf = (share: number): number =>
  Math.round(SHADES * Math.sqrt(Math.min(1, Math.max(0, share))));

function colour(shade: number): string {
  const t = shade / SHADES;
  const mix = (a: number, b: number): number => Math.round(a + (b - a) * t);
  return `rgb(${mix(255, 12)},${mix(255, 44)},${mix(255, 97)})`;
}

/** Cells of one shade as one path; neighbours in a row become one rectangle. */
function shaded(shades: readonly number[]): string {
  const size = SIDE / CELLS;
  const paths = new Map<number, string[]>();
  for (let i = 0; i < shades.length; ) {
    let end = i + 1;
    while (end % CELLS !== 0 && shades[end] === shades[i]) end++;
    const own = paths.get(shades[i]) ?? [];
    // Slightly wider than their cells, so that no gaps show.
    own.push(
      `M${(i % CELLS) * size} ${Math.floor(i / CELLS) * size}h${(end - i) * size + 0.3}v` +
        `${size + 0.3}h${(i - end) * size - 0.3}z`,
    );
    paths.set(shades[i], own);
    i = end;
  }
  return [...paths]
    .map(([s, own]) => (s === 0 ? "" : `<path fill="${colour(s)}" d="${own.join("")}"/>`))
    .join("");
}

async function fieldPanel(model: DensityModel, frame: Frame): Promise<string> {
  const { columns } = model.spec;
  const { logDensity } = await scoreRows(model, gridTable(frame, CELLS, columns));
  // A spike of a few cells must not make the rest white: the scale ends at the 99.5 % quantile of
  // the cells.
  const top = logDensity.toSorted()[Math.floor(0.995 * logDensity.length)];
  const shades = Array.from(logDensity, (v) => shadeOf(Math.exp(v - top)));
  const coarse = gridTable(frame, ARROWS, columns);
  const { score } = await scoreRows(model, coarse);
  const scaleX = SIDE / (frame.high[0] - frame.low[0]);
  const scaleY = SIDE / (frame.high[1] - frame.low[1]);
  const arrows = Array.from({ length: coarse.rows }, (_, i) => {
    const [x, y] = place(frame, coarse.values[2 * i], coarse.values[2 * i + 1]);
    const [dx, dy] = [score[2 * i] / scaleX, -score[2 * i + 1] / scaleY];
    const length = Math.hypot(dx, dy);
    // Lengths are compressed: a field should show directions, and scores differ by orders of
    // magnitude.
    const shown = (SIDE / ARROWS) * 0.75 * Math.tanh(8 * length);
    const [ux, uy] = length > 0 ? [(dx / length) * shown, (dy / length) * shown] : [0, 0];
    const [tx, ty] = [x + ux / 2, y + uy / 2];
    const wing = (turn: number): string => {
      const angle = Math.atan2(uy, ux) + Math.PI + turn;
      return `${(tx + 3 * Math.cos(angle)).toFixed(1)} ${(ty + 3 * Math.sin(angle)).toFixed(1)}`;
    };
    return (
      `M${(x - ux / 2).toFixed(1)} ${(y - uy / 2).toFixed(1)}L${tx.toFixed(1)} ` +
      `${ty.toFixed(1)}M${wing(0.5)}L${tx.toFixed(1)} ${ty.toFixed(1)}L${wing(-0.5)}`
    );
  });
  return (
    `${shaded(shades)}<path d="${arrows.join("")}" fill="none" stroke="#b5541a" ` +
    'stroke-width="0.9"/>'
  );
}

/** The data, and next to it the models fitted to it, as SVG. */
export async function densityPicture(
  table: Table,
  models: readonly DensityModel[],
): Promise<string> {
  const [first] = models;
  for (const [i, { spec }] of models.entries()) {
    if (spec.columns.length !== 2)
      fail(
        "usage",
        `model ${i + 1} has ${spec.columns.length} columns`,
        "give models of two columns",
      );
    if (spec.columns.some((name, j) => name !== first.spec.columns[j]))
      fail(
        "usage",
        `model ${i + 1} has the columns ${spec.columns.join(", ")}, but model 1 has ` +
          `${first.spec.columns.join(", ")}`,
        "give models of the same columns in the same order",
      );
  }
  const shown = selectColumns(table, modelColumns(first));
  const frame = frameOf(shown);
  const panels = [
    { title: `${table.rows} points`, content: dots(shown.values, frame) },
    ...(await Promise.all(
      models.map(async (model) => ({
        title: model.spec.loss,
        content: await fieldPanel(model, frame),
      })),
    )),
  ];
  const width = GAP + panels.length * (SIDE + GAP);
  const height = TITLE + SIDE + GAP;
  const drawn = panels.map(
    ({ title, content }, i) =>
      `<g transform="translate(${GAP + i * (SIDE + GAP)} ${TITLE})"><text x="0" y="-8" ` +
      `${FONT} font-size="12" fill="${INK}">${title}</text>${content}<rect width="${SIDE}" ` +
      `height="${SIDE}" fill="none" stroke="${FAINT}"/></g>`,
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ` +
    `${width} ${height}"><rect width="100%" height="100%" ` +
    `fill="#ffffff"/>${drawn.join("")}</svg>\n`
  );
}
