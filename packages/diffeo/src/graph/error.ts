/**
 * One error type for the whole library. A message says what was wrong and where, then what to do
 * about it;
 * the kind tells programs which of the two sides erred and gives the command line its exit code.
 */

/**
 * - `shape`, `type`, `usage`: the caller's input; raised before anything runs
 * - `device`: something this machine lacks
 * - `numerical`: a NaN, an infinity, a singular matrix
 * - `data`: a file's content
 * - `disposed`: a resource used after it was freed
 */
export type ErrorKind = "shape" | "type" | "usage" | "device" | "numerical" | "data" | "disposed";

/**
 * A cause may quote a file, and a file's names and lines may be of any length: nobody reads beyond
 * this.
 */
const LONGEST = 1000;

const shortened = (text: string): string =>
  text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 200)} … ${text.slice(-200)}`;

/** An error whose cause a user can remedy: what was wrong, where, and what to do. */
export class DiffeoError extends Error {
  readonly kind: ErrorKind;
  /**
   * What was wrong, and what to do. An option is named in backquotes, so that a program can put its
   * own word for it.
   */
  readonly problem: string;
  readonly remedy: string;

  constructor(kind: ErrorKind, cause: string, remedy: string, options?: ErrorOptions) {
    super(
      `${shortened(cause)}. ${remedy.charAt(0).toUpperCase()}${shortened(remedy.slice(1))}.`,
      options,
    );
    this.name = "DiffeoError";
    this.kind = kind;
    this.problem = shortened(cause);
    this.remedy = remedy;
  }
}

/** Raises a `DiffeoError`: what was wrong and where, then what to do. */
export function fail(kind: ErrorKind, cause: string, remedy: string): never {
  throw new DiffeoError(kind, cause, remedy);
}

/** A broken promise of our own code, never of the user's. */
export function internal(message: string): never {
  throw new Error(`internal: ${message}`);
}
