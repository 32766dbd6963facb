/**
 * Small generated tables, so that everything runs without files. Each is a function of a key and a
 * number of rows.
 */
import { fail } from "diffeo/graph";
import { fold, type Key, normal, uniform } from "diffeo/random";
import type { Table } from "./table.ts";

interface Synthetic {
  readonly columns: readonly string[];
  /** Row i from its uniforms u and normals z. */
  readonly row: (u: Float64Array, z: Float64Array) => number[];
}

const circle = (radius: number, angle: number): [number, number] => [
  radius * Math.cos(angle),
  radius * Math.sin(angle),
];

/** Two interlocking half circles. */
const twoMoons: Synthetic = {
  columns: ["x", "y"],
  row: ([which, along], [a, b]) => {
    const [x, y] = circle(1, Math.PI * along);
    const [mx, my] = which < 0.5 ? [x, y] : [1 - x, 0.5 - y];
    return [mx + 0.08 * a, my + 0.08 * b];
  },
};

/** Three concentric rings, with probabilities proportional to their lengths. */
const rings: Synthetic = {
  columns: ["x", "y"],
  row: ([which, along], [a]) =>
    circle((which < 1 / 6 ? 1 : which < 1 / 2 ? 2 : 3) + 0.08 * a, 2 * Math.PI * along),
};

/** Neal's funnel: x ~ N(0, 1), the other columns N(0, eˣ). */
const funnel: Synthetic = {
  columns: ["x", "y1", "y2", "y3", "y4"],
  row: (_, [x, ...rest]) => [x, ...rest.slice(0, 4).map((z) => Math.exp(x / 2) * z)],
};

/** Five Gaussians in four dimensions, each elongated along one direction. */
const mixture: Synthetic = {
  columns: ["a", "b", "c", "d"],
  row: ([which], [s, ...z]) => {
    const k = Math.floor(5 * which);
    const angle = (2 * Math.PI * k) / 5;
    const centre = [3 * Math.cos(angle), 3 * Math.sin(angle), k % 2 === 0 ? 1 : -1, k / 2 - 1];
    const direction = [Math.sin(angle), Math.cos(2 * angle), Math.sin(2 * angle), Math.cos(angle)];
    return centre.map((c, j) => c + 0.9 * direction[j] * s + 0.35 * z[j]);
  },
};

/** The synthetic datasets by name. */
export const synthetics = {
  "two-moons": twoMoons,
  rings,
  funnel,
  mixture,
} as const satisfies Readonly<Record<string, Synthetic>>;

/** The name of a synthetic dataset. */
export type SyntheticName = keyof typeof synthetics;

/**
 * Rows of a synthetic dataset.
 *
 * @throws DiffeoError of kind `usage` if there is no dataset of that name
 */
export function generate(name: SyntheticName, rows: number, key: Key): Table {
  if (!Object.hasOwn(synthetics, name))
    fail(
      "usage",
      `unknown generated table "${name}"`,
      `use one of ${Object.keys(synthetics).join(", ")}`,
    );
  const { columns, row } = synthetics[name] as Synthetic;
  const u = uniform(fold(key, "which"), [rows, 2], { dtype: "float64" }).data;
  const z = normal(fold(key, "where"), [rows, 6], { dtype: "float64" }).data;
  const values = Array.from({ length: rows }, (_, i) =>
    row(u.subarray(2 * i, 2 * i + 2), z.subarray(6 * i, 6 * i + 6)),
  );
  return { source: name, columns, rows, values: Float64Array.from(values.flat()) };
}
