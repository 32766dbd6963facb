/**
 * A number with point masses becomes two columns, a label and a number: baselines use the frequency
 * of the label and the density of the number. The number of an atom is arbitrary and spread by the
 * same distribution as its score in the model, so that both have one base measure.
 */
import {
  type Cell,
  type Domain,
  domainOf,
  mixedLabel,
  OTHER,
  type Product,
  product,
  real,
} from "diffeo/domain";
import { normalPoint } from "diffeo/host";
import { isHole, type OpenCell } from "../../diffusion/encode/index.ts";
import type { Cells, OpenCells } from "../table-distribution.ts";

/** The number of a row whose label determines everything. */
const NONE = "none";

/** The number of a mixed column, or NONE. */
const numberDomain = (other: Domain): Domain => ({
  ...other,
  noise: 1,
  fault: (cells) => (cells[0] === NONE ? undefined : other.fault(cells)),
  encode: (cells, u) =>
    cells[0] === NONE ? [normalPoint(u[0], 1 - u[0])] : other.encode(cells, u),
  logUnitOf: (cells, x) =>
    cells[0] === NONE
      ? (x[0] * x[0] + Math.log(2 * Math.PI)) / 2
      : (other.logUnitOf?.(cells, x) ?? other.logUnit),
});

export interface SplitRows {
  readonly domain: Product;
  readonly split: (row: OpenCells) => OpenCells;
  readonly joined: (row: Cells) => Cells;
}

/** A product of domains without point masses, and the conversion of rows in both directions. */
export function splitMixed(whole: Product): SplitRows {
  const { parts } = whole;
  const domains = parts.flatMap(({ name, domain }): [string, Domain][] => {
    const { spec } = domain;
    // A date is a number of days, and its density is per day.
    if (spec?.kind === "date") return [[name, real()]];
    if (spec?.kind !== "mixed") return [[name, domain]];
    const labels = domainOf({ kind: "category", labels: [...spec.atoms, OTHER] });
    return [
      [name, labels],
      [`${name}\u0000number`, numberDomain(domainOf(spec.other))],
    ];
  });
  if (domains.every(([, own], i) => own === parts[i].domain))
    return { domain: whole, split: (row) => row, joined: (row) => row };
  return {
    domain: product(Object.fromEntries(domains)),
    split: (row) =>
      parts.flatMap(({ domain: { spec, cells }, at }): OpenCell[] => {
        const own = row.slice(at.cells, at.cells + cells);
        if (spec?.kind !== "mixed") return own;
        const [cell] = own;
        if (isHole(cell)) return [null, null];
        const label = mixedLabel(spec.atoms, cell as Cell);
        return [label, label === OTHER ? cell : NONE];
      }),
    joined: (row) => {
      let from = 0;
      return parts.flatMap(({ domain: { spec, cells } }): Cell[] => {
        const count = spec?.kind === "mixed" ? 2 : cells;
        const own = row.slice(from, from + count);
        from += count;
        return spec?.kind === "mixed" ? [own[0] === OTHER ? own[1] : own[0]] : own;
      });
    },
  };
}
