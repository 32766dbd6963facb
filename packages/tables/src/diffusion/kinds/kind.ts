/**
 * What a kind of column is. Each kind is one file of this folder and one row of `columnKinds`
 * (`index.ts`): how cells of it are recognised, and how a rule says it. What its cells become is a
 * domain (`diffeo/domain`): encoding, decoding and the map. A column of which a model learns
 * nothing, a constant say, has no domain: the kind says what is written for it instead.
 */
import type { Domain } from "diffeo/domain";

/** A column of a table, as kinds look at it. */
export interface Column {
  readonly name: string;
  /** The texts of the cells that are not missing, in the order of the rows. */
  readonly cells: readonly string[];
  /** The numbers of these cells, where all are numbers. */
  readonly numbers?: readonly number[];
  /** Rows of the table, those with a missing value included. */
  readonly rows: number;
}

/** What is written for a column without a domain. */
export type Filler =
  | { readonly kind: "constant"; readonly value: string }
  | {
      readonly kind: "numbered";
      readonly before: string;
      readonly next: number;
      readonly width: number;
      readonly after: string;
    }
  | { readonly kind: "coded"; readonly pattern: readonly string[] }
  | { readonly kind: "omitted" };

/** What a column was taken to be: a domain of a model, or what is written instead. */
export type Meaning =
  | { readonly domain: Domain; readonly filler?: undefined; readonly reason: string }
  | { readonly filler: Filler; readonly domain?: undefined; readonly reason: string };

/**
 * The ways to take the numbers of a table: as usual, by smooth maps of their domains alone, with
 * point masses from small shares of few rows on, or by their own distribution functions however few
 * rows there are. Short fits choose between them (`fit/maps.ts`).
 */
export const numberTreatments = ["usual", "smooth", "point masses", "distributions"] as const;
/** The name of a way to take numbers. */
export type NumberTreatment = (typeof numberTreatments)[number];

export interface ColumnKind {
  /** What rules and reports call it. */
  readonly name: string;
  /** The counts of numbers that may follow the name in a rule; absent where no rule says it. */
  readonly counts?: readonly number[];
  /** The domain of a rule with such numbers; absent where it needs the cells (`declared`). */
  readonly make?: (numbers: readonly number[]) => Domain;
  /** What a column is by a rule, where the cells add to it. */
  readonly declared?: (column: Column, numbers: readonly number[]) => Meaning;
  /** What the cells of a column suggest; undefined where they are not of this kind. */
  readonly recognised?: (column: Column, treatment: NumberTreatment) => Meaning | undefined;
  /** The numbers of the rule that makes a domain of this kind; undefined where none does. */
  readonly numbersOf?: (domain: Domain) => readonly number[] | undefined;
}

/**
 * All columns that rows are written with, in order, and what is written for those without a domain.
 */
export interface TableLayout {
  readonly columns: readonly string[];
  readonly fillers: Readonly<Record<string, Filler>>;
}
