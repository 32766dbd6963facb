/**
 * Columns in pictures: numbers on a linear or logarithmic axis, labels in their order; and the
 * selection if there are too many.
 */
import type { Cell, Domain, ProductPart } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { quantiles } from "diffeo/host";
import type { Cells } from "../measure/table-distribution.ts";
import { quoteList } from "../table/quote.ts";

export interface ShownColumn {
  readonly name: string;
  /** Labels of a category; numbers have none. */
  readonly labels?: readonly Cell[];
  /** Values of rows: cells, or the indices of their labels. */
  readonly valuesOf: (rows: readonly Cells[]) => Float64Array;
  /** Whether the axis is logarithmic. */
  readonly isLog: boolean;
  readonly isWhole: boolean;
  /** The range of the axis: nearly all of the data and of the samples. */
  readonly range: readonly [number, number];
  /** Edges of the bars of its histogram. */
  readonly edges: Float64Array;
}

/** Maximum number of columns of a picture. */
const MOST_COLUMNS = 12;
const BARS = 22;
/** The share of a column that may lie outside of its axis, on each side. */
const BEYOND = 0.002;
/**
 * A positive column has a logarithmic axis if its largest numbers are at least this many times its
 * median.
 */
const WIDE = 8;

/**
 * The facts about a product of domains that a picture needs: plain data, so that a worker can send
 * them to a page.
 */
export interface ShownDomain {
  readonly columns: readonly string[];
  readonly parts: readonly (Pick<ProductPart, "columns"> & {
    readonly at: Pick<ProductPart["at"], "cells">;
    readonly domain: Pick<Domain, "kind" | "spec">;
  })[];
}

interface Place {
  readonly name: string;
  readonly at: number;
  readonly kind: string;
  readonly labels?: readonly Cell[];
}

const placesOf = (domain: ShownDomain): Place[] =>
  domain.parts.flatMap(({ domain: own, columns, at }) => {
    const { kind } = own;
    const labels =
      kind === "category" ? (own.spec as { labels: readonly Cell[] }).labels : undefined;
    return columns.map((name, k) => ({ name, at: at.cells + k, kind, labels }));
  });

const bars = (low: number, high: number, count: number): Float64Array =>
  Float64Array.from({ length: count + 1 }, (_, i) => low + ((high - low) * i) / count);

function shownColumn(
  { name, at, kind, labels }: Place,
  data: readonly Cells[],
  samples: readonly Cells[],
): ShownColumn {
  if (labels) {
    const numbers = new Map(labels.map((label, i) => [label, i]));
    return {
      name,
      labels,
      valuesOf: (rows) => Float64Array.from(rows, (row) => numbers.get(row[at]) ?? -1),
      isLog: false,
      isWhole: false,
      range: [-0.5, labels.length - 0.5],
      edges: bars(-0.5, labels.length - 0.5, labels.length),
    };
  }
  const valuesOf = (rows: readonly Cells[]): Float64Array =>
    Float64Array.from(rows, (row) => Number(row[at]));
  const seen = [data, samples].filter(({ length }) => length > 0);
  const both = seen.map((rows) => quantiles(valuesOf(rows), [BEYOND, 0.5, 1 - BEYOND]));
  let [low, high] = [Math.min(...both.map(([l]) => l)), Math.max(...both.map(([, , h]) => h))];
  if (kind === "integer") {
    [low, high] = [Math.floor(low) - 0.5, Math.ceil(high) + 0.5];
    const step = Math.max(1, Math.ceil((high - low) / (2 * BARS)));
    const count = Math.ceil((high - low) / step);
    return {
      name,
      valuesOf,
      isLog: false,
      isWhole: true,
      range: [low, low + count * step],
      edges: bars(low, low + count * step, count),
    };
  }
  const isLog = kind === "positive" && low > 0 && high > WIDE * both[0][1];
  if (isLog) {
    const margin = (high / low) ** 0.03;
    const edges = bars(Math.log(low / margin), Math.log(high * margin), BARS).map(Math.exp);
    return { name, valuesOf, isLog, isWhole: false, range: [edges[0], edges[BARS]], edges };
  }
  const margin = 0.04 * (high - low || Math.abs(high) || 1);
  const edges = bars(low - margin, high + margin, BARS);
  return { name, valuesOf, isLog, isWhole: false, range: [edges[0], edges[BARS]], edges };
}

export interface ShownColumns {
  readonly columns: readonly ShownColumn[];
  readonly leftOut: readonly string[];
}

/** The indices of the columns of a picture: by name, or the first twelve. */
export function chosenPlaces(domain: ShownDomain, names?: readonly string[]): Place[] {
  const places = placesOf(domain);
  const chosen = names
    ? names.map(
        (name) =>
          places.find((place) => place.name === name) ??
          fail(
            "usage",
            `there is no column "${name}" to draw`,
            `use some of ${quoteList(domain.columns)}`,
          ),
      )
    : places.slice(0, MOST_COLUMNS);
  if (chosen.length > MOST_COLUMNS)
    fail(
      "usage",
      `${chosen.length} columns are too many for a picture`,
      `choose at most ${MOST_COLUMNS}`,
    );
  return chosen;
}

/** The columns by name, or the first twelve. */
export function shownColumns(
  domain: ShownDomain,
  data: readonly Cells[],
  samples: readonly Cells[],
  names?: readonly string[],
): ShownColumns {
  const chosen = chosenPlaces(domain, names);
  const shown = new Set(chosen.map(({ name }) => name));
  return {
    columns: chosen.map((place) => shownColumn(place, data, samples)),
    leftOut: placesOf(domain).flatMap(({ name }) => (shown.has(name) ? [] : [name])),
  };
}
