/**
 * The error type of the library. A message says what was wrong and where, then what to do. The kind
 * tells programs the cause, and determines the exit code of the command.
 */

/**
 * - `shape`, `type`, `usage`: the caller's input; thrown before anything runs - `device`: something
 * that this machine does not have - `numerical`: a NaN, an infinity, a singular matrix - `data`: a
 * file's content - `disposed`: a resource used after it was freed
 */
export type ErrorKind = "shape" | "type" | "usage" | "device" | "numerical" | "data" | "disposed";

/** The most characters of a cause, which may quote long names and lines of files. */
const LONGEST = 1000;

const shortened = (text: string): string =>
  text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 200)} … ${text.slice(-200)}`;

/** An error that a user can fix: what was wrong, where, and what to do. */
export class DiffeoError extends Error {
  readonly kind: ErrorKind;
  /**
   * What was wrong, and what to do. Options are in backquotes, so that programs can replace them by
   * their own names.
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

/** Throws a `DiffeoError`: what was wrong and where, then what to do. */
export function fail(kind: ErrorKind, cause: string, remedy: string): never {
  throw new DiffeoError(kind, cause, remedy);
}

/** Throws for a bug of the library, which the user cannot fix. */
export function internal(message: string): never {
  throw new Error(`internal: ${message}`);
}
