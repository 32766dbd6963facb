/**
 * What a command can access in addition to files: its output streams, its input, and the signal
 * that stops it.
 */
import type { Readable } from "node:stream";
import type { Command } from "commander";

/**
 * An output stream. Its owner handles write errors: a progress line that cannot be written does not
 * end a command.
 */
export interface Output {
  write(text: string | Uint8Array): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: Readable;
  /**
   * Aborted when the work should stop at the next safe point. A signal ends a command that never
   * reads this.
   */
  readonly signal: AbortSignal;
}

/** Adds a command's arguments, options and action. */
export type Declare = (command: Command, io: Io) => void;
