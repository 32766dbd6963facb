/** The messages between the page of tables and its worker. */
import type { NetworkChoice, PairSets, TableProgress, TableTraining } from "diffeo-tables";

export type Cell = string | number;

/** What pictures need of a table's domains. */
export type ShownDomain = PairSets["domain"];

/** Maximum number of rows of a list, and of the pictures. */
export const LISTED = 200;
export const PICTURED = 1500;

/** The source of a table. */
export type Source =
  | { readonly kind: "text"; readonly name: string; readonly text: string }
  | { readonly kind: "example"; readonly name: string };

/** A table before its kinds of columns are inferred. */
export interface ReadTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: number;
  /** The cells of the first rows, as written. */
  readonly head: readonly (readonly string[])[];
  /** The rules of an example. */
  readonly rules: readonly string[];
  /** The text of an example, which the page does not have. */
  readonly text?: string;
}

/** The kind of a column, or of several together. */
export interface ShownPart {
  readonly columns: readonly string[];
  /** The rule for it in the notation of --column. */
  readonly rule: string;
  readonly reason: string;
  /** Whether the column is derived for a rule between other columns. */
  readonly isMade?: boolean;
}

export interface InferredTable {
  readonly parts: readonly ShownPart[];
  readonly dropped: readonly string[];
  readonly domain: ShownDomain;
  /** The network that suits the table, and why. */
  readonly choice: NetworkChoice;
  /** Rows without missing values, for pictures. */
  readonly data: readonly (readonly Cell[])[];
}

export interface FitRequest {
  readonly seed: number;
  /** Length of the fit, in minutes or in steps. */
  readonly minutes?: number;
  readonly steps?: number;
  /** Whether to train the network for given cells. */
  readonly given: boolean;
  /** Whether to start again; otherwise the stopped fit continues. */
  readonly anew: boolean;
}

export type FitUpdate =
  | { readonly kind: "progress"; readonly progress: TableProgress }
  /** Samples of the current network. */
  | { readonly kind: "samples"; readonly rows: readonly (readonly Cell[])[] };

/** A column as a control for a given cell. */
export interface GivenColumn {
  readonly name: string;
  readonly labels?: readonly Cell[];
  /** Range and step of the slider (99 % of the values), and the default. */
  readonly low: number;
  readonly high: number;
  readonly middle: Cell;
  readonly step: number;
}

/** Columns that are given together. */
export interface GivenPart {
  readonly columns: readonly GivenColumn[];
  readonly kind: string;
}

/** What the page knows of the model in the worker. */
export interface OpenTable {
  readonly domain: ShownDomain;
  readonly training: TableTraining;
  /** Whether its network is one of masked cells; otherwise it is one of diffusion. */
  readonly isMasked: boolean;
  /** Empty if the model has no network for given cells. */
  readonly given: readonly GivenPart[];
}

export type Given = Readonly<Record<string, Cell>>;

export interface DrawRequest {
  readonly seed: number;
  readonly count: number;
  readonly evaluations: number;
  readonly given: Given;
}

export interface Likelihood {
  readonly nats: number;
  /** Log-likelihoods of sampled rows, in ascending order; empty before they are computed. */
  readonly others: readonly number[];
}
