/**
 * Some parts of a product of domains as a separate product, with the conversion of rows in both
 * directions.
 */
import { type Cell, domainOf, type Product, type ProductPart, product } from "diffeo/domain";
import { mapRows, pointsOf } from "../../diffusion/encode/index.ts";
import type { OpenCells } from "../table-distribution.ts";

export interface Parts {
  /** Number of coordinates z = φ⁻¹(y). */
  readonly size: number;
  /** Whether encoding adds noise to cells. */
  readonly noisy: boolean;
  /**
   * z of rows, NaN where they are missing, with the cell noise of a seed; and the shift from a
   * log-density of z to one of the present cells: −log|det J_φ| + log unit.
   */
  readonly pointsOf: (
    rows: readonly OpenCells[],
    seed: number,
  ) => { readonly z: Float64Array; readonly shift: Float64Array };
  /** Writes the cells of points into rows. */
  readonly decode: (z: Float64Array, rows: Cell[][]) => void;
}

/**
 * The domains without the bends that a model fitted to their coordinates: measures must not depend
 * on them.
 */
export const withoutBends = ({ parts }: Product): Product =>
  product(
    Object.fromEntries(
      parts.map(({ name, domain }) => [
        name,
        domain.spec?.kind === "bent" ? domainOf(domain.spec.domain) : domain,
      ]),
    ),
  );

/** −log|det J_φ| + log unit of the present parts of each point. */
function shiftOf(
  { parts, dimension: n }: Product,
  z: Float64Array,
  cells: readonly OpenCells[],
): Float64Array {
  const shift = new Float64Array(z.length / n);
  for (const { domain, at } of parts) {
    const d = domain.dimension;
    const there = Array.from(shift.keys()).filter((i) => !Number.isNaN(z[i * n + at.x]));
    if (there.length === 0) continue;
    const own = new Float64Array(there.length * d);
    there.forEach((i, k) => {
      own.set(z.subarray(i * n + at.x, i * n + at.x + d), k * d);
    });
    const unitOf = (k: number): number =>
      domain.logUnitOf?.(
        cells[there[k]].slice(at.cells, at.cells + domain.cells) as readonly Cell[],
        own.subarray(k * d, (k + 1) * d),
      ) ?? domain.logUnit;
    mapRows(own, d, (p) => domain.map.logDet(p)).forEach((v, k) => {
      shift[there[k]] += unitOf(k) - v;
    });
  }
  return shift;
}

export function partsWhere(domain: Product, keep: (part: ProductPart) => boolean): Parts {
  const kept = domain.parts.filter(keep);
  if (kept.length === 0)
    return {
      size: 0,
      noisy: false,
      pointsOf: (rows) => ({ z: new Float64Array(), shift: new Float64Array(rows.length) }),
      decode() {},
    };
  const own = product(Object.fromEntries(kept.map((part) => [part.name, part.domain])));
  const n = own.dimension;
  return {
    size: n,
    noisy: own.noise > 0,
    pointsOf: (rows, seed) => {
      const cells = rows.map((row) =>
        kept.flatMap(({ at, domain: { cells: count } }) => row.slice(at.cells, at.cells + count)),
      );
      const z = pointsOf(cells, own, seed);
      return { z, shift: shiftOf(own, z, cells) };
    },
    decode: (z, rows) => {
      const y = mapRows(z, n, own.map.forward);
      rows.forEach((row, i) => {
        const cells = own.decode(y.subarray(i * own.size, (i + 1) * own.size));
        kept.forEach(({ at, domain: { cells: count } }, k) => {
          for (let j = 0; j < count; j++) row[at.cells + j] = cells[own.parts[k].at.cells + j];
        });
      });
    },
  };
}
