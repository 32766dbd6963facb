/** Log-likelihoods by a network of masked cells, and the volumes that all likelihoods share. */

import { logUnitIn, type Product, type ProductPart } from "diffeo/domain";
import {
  isBeyond,
  isCoded,
  mapRows,
  type OpenCell,
  partCells,
  plainSpec,
} from "../encode/index.ts";
import type { OpenedTable } from "../network/index.ts";
import type { FlowOptions } from "./likelihood-types.ts";
import { wordLikelihood } from "./words.ts";

/** log|det ∂y/∂z| of parts of numbers, those of each row that are there. */
export function volumes(
  { dimension: n }: Product,
  z: Float64Array,
  parts: readonly ProductPart[],
): Float64Array {
  const out = new Float64Array(z.length / n);
  for (const { domain: own, at } of parts) {
    const d = own.dimension;
    const rows = Array.from(out.keys()).filter((i) => !Number.isNaN(z[i * n + at.x]));
    const coordinates = new Float64Array(rows.length * d);
    rows.forEach((i, k) => {
      coordinates.set(z.subarray(i * n + at.x, i * n + at.x + d), k * d);
    });
    if (rows.length > 0)
      mapRows(coordinates, d, (p) => own.map.logDet(p)).forEach((v, k) => {
        out[rows[k]] += v;
      });
  }
  return out;
}

/** Whether a cell is one of the point masses of its number: it has a probability alone. */
const isMass = ({ domain, at }: ProductPart, cells: readonly OpenCell[]): boolean => {
  const spec = plainSpec(domain);
  return spec?.kind === "mixed" && spec.atoms.includes(cells[at.cells] as number);
};

/**
 * log q of points z by a model of masked cells, with missing values or without; with `part`, of the
 * cells of this part given the others.
 */
export async function masses(
  model: OpenedTable,
  z: Float64Array,
  cells: readonly (readonly OpenCell[])[],
  options: Pick<FlowOptions, "signal"> & { readonly part?: number },
): Promise<Float64Array> {
  const { domain, atoms = {} } = model;
  const n = domain.dimension;
  const found = await wordLikelihood(model, z, options);
  const parts = domain.parts.filter((_, k) => options.part === undefined || options.part === k);
  const numbers = parts.filter((part) => !isCoded(part, atoms));
  const measured = parts.filter(
    (part) => part.domain.logUnitOf !== undefined || numbers.includes(part),
  );
  const volume = volumes(domain, z, numbers);
  return found.map((v, i) => {
    if (parts.some((part) => isBeyond(part, atoms, cells[i]))) return -Infinity;
    const own = z.subarray(i * n, (i + 1) * n);
    const units = measured
      .filter((part) => !Number.isNaN(own[part.at.x]) && !isMass(part, cells[i]))
      .reduce((s, part) => s + logUnitIn(part, partCells(part, cells[i]) ?? [], own), 0);
    return v - volume[i] + units;
  });
}
