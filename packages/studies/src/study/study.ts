/**
 * A study: tasks, each of which makes one record, and a report on all records. A
 * record is a function of its task and the files it needs, so tasks can run anywhere and in any
 * order. Seeds pair tasks: two tasks of one seed see the same data and noise wherever they can.
 */
import type { Positions } from "diffeo-chess";
import type * as v from "valibot";

/** A task and its result: one line of `records.json`. */
export interface StudyRecord<T = unknown, R = unknown> {
  readonly task: T;
  readonly result: R;
}

/** What a task runs with. */
export interface TaskContext {
  /** Where networks run: `cpu`, or `webgpu` for studies that can. */
  readonly device: string;
  /** The bytes of the file that the task needs. */
  readonly file: () => Promise<Uint8Array>;
  /** Reports the share of the task that is done. */
  readonly report: (share: number) => void;
  readonly signal?: AbortSignal;
}

/** Optional data that a report compares records with. */
export interface ReportData {
  /** Real chess positions. */
  readonly positions?: Positions | undefined;
}

/** What a study prints and writes about all records. */
export interface StudyReport {
  /** Markdown below the title, of tables and sentences. */
  readonly text: string;
  /** SVG by file name, without an ending. */
  readonly figures: Readonly<Record<string, string>>;
}

/** A study: what it runs and what it reports. */
export interface Study<T extends object = object, R = unknown> {
  readonly name: string;
  /** Its question, in a sentence. */
  readonly about: string;
  /** Raised when the same task gives another record. */
  readonly version: number;
  /** The default number of seeds. */
  readonly seeds: number;
  /** All tasks, the longest first, so that processes end together. */
  readonly tasks: (seeds: number) => readonly T[];
  readonly nameOf: (task: T) => string;
  readonly task: v.GenericSchema<unknown, T>;
  readonly result: v.GenericSchema<unknown, R>;
  /** The name of the file that a task needs: a UCI dataset, or `chess model`. Default none. */
  readonly file?: (task: T) => string | undefined;
  readonly run: (task: T, context: TaskContext) => Promise<R>;
  readonly report: (
    records: readonly StudyRecord<T, R>[],
    data: ReportData,
  ) => Promise<StudyReport>;
}
