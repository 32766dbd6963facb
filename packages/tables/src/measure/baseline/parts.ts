/**
 * Some parts of a product of domains as a product of their own, with the way between the rows of
 * both.
 */
import { type Cell, domainOf, type Product, type ProductPart, product } from "diffeo/domain";
import { mapRows, pointsOf } from "../../diffusion/encode/index.ts";
import type { Cells } from "../law.ts";

export interface Parts {
  /** How many coordinates z = φ⁻¹(y) they have. */
  readonly size: number;
  /** Whether cells take noise on their way in. */
  readonly noisy: boolean;
  /**
   * z of rows, cell noise being that of a seed, and what takes a log-density of z to one of cells:
   * −log|det J_φ| + log unit.
   */
  readonly pointsOf: (
    rows: readonly Cells[],
    seed: number,
  ) => { readonly z: Float64Array; readonly shift: Float64Array };
  /** Writes the cells of points into rows. */
  readonly decode: (z: Float64Array, rows: Cell[][]) => void;
}

/**
 * The domains without the bends that a model gave their coordinates: what it is measured by must
 * not depend on them.
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
      const unitOf = (row: number): number =>
        own.logUnitOf?.(cells[row], z.subarray(row * n, (row + 1) * n)) ?? own.logUnit;
      return { z, shift: mapRows(z, n, (p) => own.map.logDet(p)).map((v, i) => unitOf(i) - v) };
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
