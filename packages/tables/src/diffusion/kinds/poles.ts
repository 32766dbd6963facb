/**
 * Where the pole goes of an angle or a sphere without a specified centre: away from the rows.
 * With p the pole,
 *
 *   1 + ‖x‖² = 2/(1 − ⟨y, p⟩)
 *
 * so the rows' mean of −log(1 − ⟨y, p⟩) says how far out they are in x, and p is where it is least.
 * On the circle, since log(1 − cos u) = −log 2 − 2 Σ cos(ku)/k, it is the rows' density with its
 * k-th wave divided by k: smoothed, without a width to choose.
 */
import { angle, type Domain, sphere } from "diffeo/domain";
import type { CellTable } from "../../table/cells.ts";
import { bounds, numbersIn } from "./column-cells.ts";

/** Poles that are tried on a circle, and rows whose opposites are on a sphere. */
const TRIED = 360;
/** Rows that are looked at. */
const MOST_ROWS = 2_000;

type Point = readonly number[];

interface Placed {
  readonly domain: Domain;
  readonly reason: string;
}

/** So many of a list, evenly. */
const some = <T>(list: readonly T[], most: number): readonly T[] =>
  list.length <= most
    ? list
    : Array.from({ length: most }, (_, i) => list[Math.floor((i * list.length) / most)]);

/** The number of the pole that points are farthest from. */
function emptiest(poles: readonly Point[], points: readonly Point[]): number {
  const nearness = poles.map((pole) =>
    // A point at the pole itself is as far out as the domains let it be.
    points.reduce(
      (s, y) => s - Math.log(1 + 1e-10 - y.reduce((dot, v, i) => dot + v * pole[i], 0)),
      0,
    ),
  );
  return nearness.indexOf(Math.min(...nearness));
}

/**
 * Where cells begin that are within a turn: at 0 or at minus half a turn, as angles are mostly
 * written, or at the least.
 */
function beginning([low, high]: readonly [number, number], period: number): number {
  const usual = [0, -period / 2].find((from) => low >= from && high <= from + period);
  return usual ?? (high - low < period ? low : 0);
}

const rounded = (value: number): number => Number(value.toPrecision(6));

/**
 * An angle that rows are in, cut where they are fewest; what comes out of it is written as they
 * are.
 */
export function placedAngle(cells: readonly number[], period?: number): Placed {
  const turn = period ?? 2 * Math.PI;
  const on = (cell: number): Point => [
    Math.cos((2 * Math.PI * cell) / turn),
    Math.sin((2 * Math.PI * cell) / turn),
  ];
  // Between the cells of those who write whole degrees.
  const cuts = Array.from({ length: TRIED }, (_, i) => ((i + 0.5) * turn) / TRIED);
  const cut = cuts[emptiest(cuts.map(on), some(cells, MOST_ROWS).map(on))];
  const from = beginning(bounds(cells), turn);
  return {
    domain: angle({ period, centre: cut + turn / 2, from }),
    reason:
      `as specified, from ${rounded(from)} to ${rounded(from + turn)}; cut at ${rounded(cut)}, ` +
      "where rows are fewest",
  };
}

/** A sphere that rows are on, seen from a pole that they are far from. */
export function placedSphere(table: CellTable, names: readonly string[]): Placed {
  const columns = names.map((name) => numbersIn(table, name) ?? []);
  // Of length 1, whatever they have: one that has another is refused where rows are read, with its
  // place.
  const whole = table.rows.flatMap((_, i) => {
    const y = columns.map((column) => column[i]);
    const length = Math.hypot(...y);
    return length > 0 && Number.isFinite(length) ? [y.map((v) => v / length)] : [];
  });
  const axes = names.flatMap((_, i) =>
    [1, -1].map((sign) => names.map((_, j) => (i === j ? sign : 0))),
  );
  const poles = [...axes, ...some(whole, TRIED).map((y) => y.map((v) => -v))];
  const centre = poles[emptiest(poles, some(whole, MOST_ROWS))].map((v) => 0 - v);
  return {
    domain: sphere(names, { centre }),
    reason: `as specified, around (${centre.map(rounded).join(", ")})`,
  };
}
