/** What a fit of a table takes, and what it reports. */
import type { Domain } from "diffeo/domain";
import type { RunStore } from "diffeo/train";
import type { TableLayout } from "../kinds/index.ts";
import type { Flow, FlowKind } from "../network/index.ts";
import type { DrawnRows, DrawRows } from "../query/index.ts";
import type { WeightChoice } from "./fit-options.ts";
import type { NetworkTraining, TrainingOptions, TrainingProgress } from "./training-options.ts";

/** How far a fit is. */
export interface TableProgress extends TrainingProgress {
  /**
   * What is trained: the network of rows with given cells and missing values, that of the whole
   * table, or a flow before it.
   */
  readonly network: "given" | "whole" | "flow";
}

/** The domains of the columns, and how a table is fitted. */
export interface FitTableOptions extends Omit<TrainingOptions, "onProgress" | "onWeights"> {
  /** Domains by name: a column's, or that of a group of columns that the domain names itself. */
  readonly columns: Readonly<Record<string, Domain>>;
  /** The columns that rows are written with, where some of them have no domain (`layoutOf`). */
  readonly layout?: TableLayout;
  /**
   * The share of rows that training does not see, of no more than 5,000 rows. Default 0.1, and 0.2
   * where weights are chosen by distance.
   */
  readonly held?: number;
  /**
   * What the weights of the network of whole rows are chosen by: the loss on held-out rows, which
   * bounds their likelihood, or the distance of sampled rows to them (`distance.ts`). With a few
   * hundred rows, the loss is least after a few hundred steps, when samples are still spread too
   * far. Chosen by distance, likelihoods are worse, and samples are better and nearer to training
   * rows. Default loss.
   */
  readonly choose?: WeightChoice;
  /**
   * Whether rows can be drawn given some of their cells, for which a second network is trained.
   * Default true; where rows have missing values it is trained in any case.
   */
  readonly given?: boolean;
  /**
   * A flow of couplings as the last link of φ (`flow.ts`), to be trained or of another fit to these
   * rows. Default none.
   */
  readonly flow?: FlowKind | Flow;
  /** Where the runs of the second network and of the flow are kept. Default: memory. */
  readonly givenStore?: RunStore;
  readonly flowStore?: RunStore;
  readonly onProgress?: (progress: TableProgress) => void;
  /**
   * Called at every measurement with a function that samples rows by the current weights of the
   * network that is being trained. Training waits for it.
   */
  readonly onMeasured?: (draw: (options: DrawRows) => Promise<DrawnRows>) => Promise<void> | void;
}

/** Options of the training of single networks. */
export interface Plans {
  readonly given?: Partial<NetworkTraining>;
  readonly whole?: Partial<NetworkTraining>;
}

/** How a model is fitted again. Its columns, layout and flow stay as they are. */
export type RefitTableOptions = Omit<
  FitTableOptions,
  | "columns"
  | "layout"
  | "flow"
  | "held"
  | "choose"
  | "steps"
  | "patience"
  | "minutes"
  | "store"
  | "givenStore"
  | "flowStore"
>;
