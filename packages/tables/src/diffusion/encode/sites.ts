/**
 * The coordinates z of a table as labels and bins, which a network gives chances of: a row is then
 * a word, and its distribution a product of conditionals. A label is its own place among the labels
 * of its column. Any other coordinate is the bin that it falls into, and its place within the bin
 * (`bins.ts`).
 */

import type { Product } from "diffeo/domain";
import { type Atoms, codesOf } from "./atoms.ts";
import { type Bins, cellFinder, evenBins } from "./bins.ts";
import { mapRows } from "./map-rows.ts";
import { plainSpec } from "./points.ts";

/** A label of a part, as the place of its code among all. */
export interface LabelSite {
  readonly kind: "label";
  readonly part: number;
  readonly from: number;
  readonly to: number;
  /** z of each label, [labels, to − from]. */
  readonly codes: Float64Array;
  readonly count: number;
}

/** A coordinate of a part, as the bin that it falls into. */
interface NumberSite {
  readonly kind: "number";
  readonly part: number;
  readonly at: number;
  readonly bins: Bins;
  /** Whether the density within a bin is even: it is one value, or without end. */
  readonly isEven: readonly boolean[];
  /** Finds the intervals of z that stand for one value each. */
  readonly cells?: ReturnType<typeof cellFinder>;
  /** The label without which it has no value: "other" of a number with point masses. */
  readonly only?: { readonly site: number; readonly label: number };
}

/** What a network gives chances of, in the order of the coordinates. */
export type Site = LabelSite | NumberSite;

/** z of the labels of a part. */
function codesInZ(domain: Product, part: number, points: readonly (readonly number[])[]) {
  const { at } = domain.parts[part];
  const [size, n, width] = [domain.size, domain.dimension, points[0].length];
  const y = new Float64Array(points.length * size);
  points.forEach((point, k) => {
    y.set(domain.start, k * size);
    y.set(point, k * size + at.y);
  });
  const z = mapRows(y, size, domain.map.inverse);
  const codes = new Float64Array(points.length * width);
  points.forEach((_, k) => {
    codes.set(z.subarray(k * n + at.x, k * n + at.x + width), k * width);
  });
  return { codes, width };
}

/** The sites of a table; `binsOf` has the bins of each coordinate that is not a label's. */
export function sitesOf(
  domain: Product,
  atoms: Atoms,
  binsOf: (coordinate: number) => Bins,
): Site[] {
  const sites: Site[] = [];
  domain.parts.forEach((part, k) => {
    const { at, domain: own } = part;
    const points = codesOf(part, atoms);
    let [from, only] = [at.x, undefined as NumberSite["only"]];
    if (points) {
      const { codes, width } = codesInZ(domain, k, points);
      from += width;
      if (plainSpec(own)?.kind === "mixed") only = { site: sites.length, label: points.length - 1 };
      sites.push({
        ...{ kind: "label", part: k, from: at.x, to: from },
        ...{ codes, count: points.length },
      });
    }
    const cells = cellFinder(part);
    for (let i = from; i < at.x + own.dimension; i++)
      sites.push({
        ...{ kind: "number", part: k, at: i, bins: binsOf(i), isEven: evenBins(binsOf(i), cells) },
        ...(cells && { cells }),
        ...(only && { only }),
      });
  });
  return sites;
}
