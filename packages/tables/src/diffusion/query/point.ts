/**
 * One value for each missing cell, by draws of it: the median of a number, which minimises the
 * expected absolute error, and the mode of a label, which minimises the probability of being wrong.
 * The cells of a group of columns must go together, and angles have no order: there it is the
 * medoid, the draw whose distance to all others is least in sum,
 *
 *   argmin_k Σ_l ‖y_k − y_l‖
 */
import type { Cell, Domain, ProductPart } from "diffeo/domain";

/** Draws that a point is taken of unless a number is specified; odd, so that one is the median. */
export const POINT_DRAWS = 41;

/** The most frequent cell; of several the one that came first. */
function modeOf(cells: readonly Cell[]): Cell {
  const counts = new Map<Cell, number>();
  for (const cell of cells) counts.set(cell, (counts.get(cell) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

/** The lower median of cells in the order of their numbers. */
function medianOf(cells: readonly Cell[], { encode, noise }: Domain): Cell {
  const middle = Array<number>(noise).fill(0.5);
  const placed = cells.map((cell) => ({
    cell,
    place: typeof cell === "number" ? cell : encode([cell], middle)[0],
  }));
  placed.sort((a, b) => a.place - b.place);
  return placed[(placed.length - 1) >> 1].cell;
}

/** The draw that is nearest to all. */
function medoidOf(draws: readonly (readonly Cell[])[], { encode, noise }: Domain): readonly Cell[] {
  const middle = Array<number>(noise).fill(0.5);
  const points = draws.map((cells) => encode(cells, middle));
  const far = points.map((a) =>
    points.reduce((sum, b) => sum + Math.hypot(...Array.from(a, (v, i) => v - b[i])), 0),
  );
  return draws[far.indexOf(Math.min(...far))];
}

const UNORDERED = ["angle", "sphere"];

/** The cells of one part by draws of them. */
function partPoint({ domain }: ProductPart, draws: readonly (readonly Cell[])[]): readonly Cell[] {
  if (domain.kind === "category") return [modeOf(draws.map(([cell]) => cell))];
  if (domain.cells > 1 || UNORDERED.includes(domain.kind)) return medoidOf(draws, domain);
  return [
    medianOf(
      draws.map(([cell]) => cell),
      domain,
    ),
  ];
}

/** One row for draws of it. */
export const pointOf = (
  parts: readonly ProductPart[],
  draws: readonly (readonly Cell[])[],
): readonly Cell[] =>
  parts.flatMap((part) => {
    const { at, domain } = part;
    const own = draws.map((row) => row.slice(at.cells, at.cells + domain.cells));
    const [first] = own;
    // What is given is the same in all draws.
    return own.every((cells) => cells.every((cell, i) => cell === first[i]))
      ? first
      : partPoint(part, own);
  });
