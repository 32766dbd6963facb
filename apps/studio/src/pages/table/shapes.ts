/** What the page of tables and its worker send each other. */
import type { PairSets, TableProgress, TableTraining } from "diffeo-tables";

export type Cell = string | number;

/** What pictures must know of a table's domains. */
export type ShownDomain = PairSets["domain"];

/** Rows at the most that the page shows in a list, and in its pictures. */
export const LISTED = 200;
export const PICTURED = 1500;

/** Where a table comes from. */
export type Source =
  | { readonly kind: "text"; readonly name: string; readonly text: string }
  | { readonly kind: "example"; readonly name: string };

/** A table that was read, before it is known what its columns are. */
export interface ReadTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: number;
  /** The first rows, as their cells are written. */
  readonly head: readonly (readonly string[])[];
  /** Rules that go with it. */
  readonly rules: readonly string[];
  /** The text itself, where the page does not have it. */
  readonly text?: string;
}

/** What columns were taken to be. */
export interface ShownPart {
  readonly columns: readonly string[];
  /** The rule that says it, as the command's --column takes it. */
  readonly rule: string;
  readonly reason: string;
  /** Whether the table has no such column: it was made for a rule between others. */
  readonly isMade?: boolean;
}

export interface InferredTable {
  readonly parts: readonly ShownPart[];
  readonly dropped: readonly string[];
  readonly domain: ShownDomain;
  /** Rows without holes, for pictures. */
  readonly data: readonly (readonly Cell[])[];
}

export interface FitAsk {
  readonly seed: number;
  /** How long it may take, or how many steps. */
  readonly minutes?: number;
  readonly steps?: number;
  /** Whether cells can be given afterwards. */
  readonly given: boolean;
  /** Whether to begin anew; otherwise the fit that was stopped goes on. */
  readonly anew: boolean;
}

export type FitUpdate =
  | { readonly kind: "progress"; readonly progress: TableProgress }
  /** Rows drawn by the weights as they are. */
  | { readonly kind: "samples"; readonly rows: readonly (readonly Cell[])[] };

/** A column as a control: what a reader may give. */
export interface GivenColumn {
  readonly name: string;
  readonly labels?: readonly Cell[];
  /** Nearly all that there is, the middle of it, and the step of a slider. */
  readonly low: number;
  readonly high: number;
  readonly middle: Cell;
  readonly step: number;
}

/** Columns that are given together or not at all. */
export interface GivenPart {
  readonly columns: readonly GivenColumn[];
  readonly kind: string;
}

/** A model as the page knows it; the worker has it. */
export interface OpenTable {
  readonly domain: ShownDomain;
  readonly training: TableTraining;
  /** Nothing where the model has no network of given cells. */
  readonly given: readonly GivenPart[];
}

export type Given = Readonly<Record<string, Cell>>;

export interface DrawAsk {
  readonly seed: number;
  readonly count: number;
  readonly evaluations: number;
  readonly given: Given;
}

export interface Likelihood {
  readonly nats: number;
  /** Those of drawn rows, smallest first; none before they are known. */
  readonly others: readonly number[];
}
