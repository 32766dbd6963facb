/** Products of domains by name: the blocks of a row of a table, or all parameters of a model. */
import { blocks } from "../bijector/index.ts";
import { fail } from "../graph/index.ts";
import { type Cell, type Domain, domain } from "./domain.ts";
import type { SingleSpec } from "./spec.ts";

/** A part of a product: a named domain with its columns. */
export interface ProductPart {
  readonly name: string;
  readonly domain: Domain;
  /** The columns of its cells. */
  readonly columns: readonly string[];
  /** The first indices of its cells, its y and its x. */
  readonly at: { readonly cells: number; readonly y: number; readonly x: number };
}

/** A product of domains, such as the domain of the rows of a table. */
export interface Product extends Domain {
  readonly parts: readonly ProductPart[];
  /** The columns of all cells, in order. */
  readonly columns: readonly string[];
  /** Splits the cells of the product into those of its parts, by name. */
  readonly split: (cells: readonly Cell[]) => Readonly<Record<string, readonly Cell[]>>;
}

/** The columns of a part: the names of its domain, its name, or its name with numbers from 1. */
const columnsOf = (name: string, { cells, names }: Domain): readonly string[] =>
  names ?? (cells === 1 ? [name] : Array.from({ length: cells }, (_, i) => `${name}.${i + 1}`));

function laidOut(domains: Readonly<Record<string, Domain>>): ProductPart[] {
  const at = { cells: 0, y: 0, x: 0 };
  return Object.entries(domains).map(([name, own]) => {
    const part = { name, domain: own, columns: columnsOf(name, own), at: { ...at } };
    at.cells += own.cells;
    at.y += own.size;
    at.x += own.dimension;
    return part;
  });
}

const total = (parts: readonly ProductPart[], of: (own: Domain) => number): number =>
  parts.reduce((sum, part) => sum + of(part.domain), 0);

/** The logarithm of the volume in y of one unit of cells of a part; x has all coordinates. */
export function logUnitIn(
  { domain: own, at }: ProductPart,
  cells: readonly Cell[],
  x: ArrayLike<number>,
): number {
  if (!own.logUnitOf) return own.logUnit;
  return own.logUnitOf(
    cells,
    Array.from({ length: own.dimension }, (_, i) => x[at.x + i]),
  );
}

/** Throws for an empty product, a product within a product, and columns with the same name. */
function requireParts(parts: readonly ProductPart[], columns: readonly string[]): void {
  if (parts.length === 0) fail("usage", "product: no domains", "give at least one by name");
  const inner = parts.find((part) => "parts" in part.domain);
  if (inner) fail("usage", `product: "${inner.name}" is a product`, "give its domains separately");
  const twice = columns.find((name, i) => columns.indexOf(name) !== i);
  if (twice !== undefined)
    fail(
      "usage",
      `product: two columns have the name "${twice}"`,
      "give every column its own name",
    );
}

/** The first five names, as text. */
const shortList = (names: readonly string[]): string =>
  `${names.slice(0, 5).join(", ")}${names.length > 5 ? ", …" : ""}`;

/** The product of named domains, which may not be products themselves. */
export function product(domains: Readonly<Record<string, Domain>>): Product {
  const parts = laidOut(domains);
  const columns = parts.flatMap((part) => part.columns);
  requireParts(parts, columns);
  const cellsOf = ({ domain: own, at }: ProductPart, cells: readonly Cell[]): readonly Cell[] =>
    cells.slice(at.cells, at.cells + own.cells);
  const specs = parts.flatMap(({ name, domain: own }) =>
    own.spec ? [{ name, domain: own.spec as SingleSpec }] : [],
  );
  let drawn = 0;
  const noiseAt = parts.map((part) => {
    drawn += part.domain.noise;
    return drawn - part.domain.noise;
  });
  const whole = domain({
    kind: "product",
    ...(specs.length === parts.length && { spec: { kind: "product", parts: specs } }),
    map: blocks(
      parts.map(({ domain: own }) => ({ map: own.map, size: own.dimension, sizeY: own.size })),
    ),
    dimension: total(parts, (own) => own.dimension),
    size: total(parts, (own) => own.size),
    cells: columns.length,
    names: columns,
    noise: drawn,
    logUnit: total(parts, (own) => own.logUnit),
    ...(parts.some((part) => part.domain.logUnitOf) && {
      logUnitOf: (cells: readonly Cell[], x: ArrayLike<number>) =>
        parts.reduce((sum, part) => sum + logUnitIn(part, cellsOf(part, cells), x), 0),
    }),
    fault: () => undefined,
    faultOfCells: (cells) => {
      for (const part of parts) {
        const found = part.domain.fault(cellsOf(part, cells));
        if (found !== undefined) return `${shortList(part.columns)}: ${found}`;
      }
      return undefined;
    },
    encode: (cells, u) =>
      parts.flatMap((part, i) =>
        part.domain.encode(
          cellsOf(part, cells),
          Array.from({ length: part.domain.noise }, (_, j) => u[noiseAt[i] + j]),
        ),
      ),
    decode: (y) =>
      parts.flatMap(({ domain: own, at }) =>
        own.decode(Array.from({ length: own.size }, (_, i) => y[at.y + i])),
      ),
  });
  return {
    ...whole,
    parts,
    columns,
    split: (cells) => Object.fromEntries(parts.map((part) => [part.name, cellsOf(part, cells)])),
  };
}
