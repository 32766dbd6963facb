/**
 * What a command sees of the world in addition to files: where it writes, where it reads, and the
 * signal that stops it.
 */
import type { Readable } from "node:stream";
import type { Command } from "commander";

/**
 * A stream to write to. What cannot be written is its owner's to notice: no command ends for a line
 * of progress.
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
   * Set when the work should stop at the next safe point. Whoever does not look at it is ended
   * where it stands.
   */
  readonly signal: AbortSignal;
}

/** Adds a command's arguments, options and action. */
export type Declare = (command: Command, io: Io) => void;
