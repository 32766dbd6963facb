/**
 * Rows as vectors for distances, clusters and classifiers. A part has its coordinates z = φ⁻¹(y), a
 * label its indicators, angles and points of a sphere y itself, which has no cut. All features have
 * mean 0 and deviation 1 in the reference rows. Integers are placed in the middle of their
 * interval.
 */
import type { Cell, Product, ProductPart } from "diffeo/domain";
import type { NdArray } from "diffeo/graph";
import { mapRows } from "../diffusion/encode/index.ts";
import { withoutBends } from "./baseline/parts.ts";
import type { Cells } from "./table-distribution.ts";

export interface Features {
  readonly names: readonly string[];
  /** Number of features of each part of the domain, in order. */
  readonly widths: readonly number[];
  /** [rows, features], standardised. */
  readonly of: (rows: readonly Cells[]) => NdArray;
}

/**
 * The number of standard deviations given to a part whose coordinates are lost to rounding, such as
 * 10⁻³⁰ of a whole with two other parts.
 */
const FAR = 100;

const finite = (v: number): number => (Number.isFinite(v) ? v : v > 0 ? FAR : -FAR);

interface Block {
  readonly names: readonly string[];
  readonly of: (rows: readonly Cells[]) => Float64Array;
}

/** The name of a column, or of coordinates of a group of columns. */
const namesOf = ({ columns }: ProductPart, size: number): string[] =>
  columns.length === size
    ? [...columns]
    : Array.from({ length: size }, (_, i) =>
        columns.length === 1 && size === 1 ? columns[0] : `${columns.join("+")} (${i + 1})`,
      );

/** Maximum number of labels with an indicator each; with more labels, how many have one. */
const [ALL_LABELS, COMMON_LABELS] = [100, 30];

/** The labels of a part that measures use: all, or the most common ones if there are many. */
export function labelsSeen(
  { domain, at }: ProductPart,
  rows: readonly (readonly unknown[])[],
): readonly Cell[] | undefined {
  const { spec } = domain;
  if (spec?.kind !== "category") return undefined;
  if (spec.labels.length <= ALL_LABELS) return spec.labels;
  const counts = new Map<unknown, number>();
  for (const row of rows) counts.set(row[at.cells], (counts.get(row[at.cells]) ?? 0) + 1);
  const count = (label: Cell): number => counts.get(label) ?? 0;
  return spec.labels.toSorted((a, b) => count(b) - count(a)).slice(0, COMMON_LABELS);
}

function blockOf(part: ProductPart, reference: readonly Cells[]): Block {
  const { domain, at } = part;
  const cellsOf = (row: Cells): readonly Cell[] => row.slice(at.cells, at.cells + domain.cells);
  const labels = labelsSeen(part, reference);
  if (labels)
    return {
      names: labels.map((label) => `${part.columns[0]} = ${label}`),
      of: (rows) =>
        Float64Array.from(
          rows.flatMap((row) => labels.map((label) => (row[at.cells] === label ? 1 : 0))),
        ),
    };
  const middle = Array<number>(domain.noise).fill(0.5);
  const encoded = (rows: readonly Cells[]): Float64Array =>
    Float64Array.from(rows.flatMap((row) => domain.encode(cellsOf(row), middle)));
  if (["angle", "sphere"].includes(domain.kind))
    return { names: namesOf(part, domain.size), of: encoded };
  return {
    names: namesOf(part, domain.dimension),
    of: (rows) => mapRows(encoded(rows), domain.size, domain.map.inverse),
  };
}

/** The features of rows of a product of domains, standardised by some of them. */
export function featuresOf(domain: Product, reference: readonly Cells[]): Features {
  const blocks = withoutBends(domain).parts.map((part) => blockOf(part, reference));
  const size = blocks.reduce((s, { names }) => s + names.length, 0);
  const raw = (rows: readonly Cells[]): Float64Array => {
    const out = new Float64Array(rows.length * size);
    let at = 0;
    for (const { names, of } of blocks) {
      const own = of(rows);
      const width = names.length;
      for (let i = 0; i < own.length; i++)
        out[Math.floor(i / width) * size + at + (i % width)] = own[i];
      at += width;
    }
    return out;
  };
  const known = raw(reference);
  const count = reference.length;
  const mean = new Float64Array(size);
  const deviation = new Float64Array(size);
  known.forEach((v, i) => {
    mean[i % size] += v / count;
  });
  known.forEach((v, i) => {
    deviation[i % size] += (v - mean[i % size]) ** 2 / count;
  });
  // A constant feature is not scaled, such as a label that does not occur.
  const scale = deviation.map((v, j) => (v > (1e-12 * mean[j]) ** 2 ? Math.sqrt(v) : 1));
  return {
    names: blocks.flatMap(({ names }) => names),
    widths: blocks.map(({ names }) => names.length),
    of: (rows) => ({
      shape: [rows.length, size],
      dtype: "float64",
      data: raw(rows).map((v, i) => finite((v - mean[i % size]) / scale[i % size])),
    }),
  };
}
