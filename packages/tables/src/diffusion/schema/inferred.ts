/** What columns are taken to be, before a model knows of them. */
import type { Domain } from "diffeo/domain";
import type { Filler } from "../kinds/index.ts";

/** What columns were taken to be. */
export interface Inferred {
  readonly columns: readonly string[];
  /** The name of the kind: "positive", "category", "identifier", … */
  readonly kind: string;
  /** Absent where a model learns nothing of the column; then there is a filler. */
  readonly domain?: Domain;
  /** What is written for a column without a domain. */
  readonly filler?: Filler;
  /** Whether the file has no such column: it was made for a rule between others. */
  readonly isMade?: boolean;
  /** Why. */
  readonly reason: string;
}
