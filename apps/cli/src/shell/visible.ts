/**
 * Makes text from outside, such as the name of a column or of a job on a queue, safe for a
 * terminal: characters that control a terminal, or that change the order of text, become visible
 * ones.
 */
import type { Io, Output } from "./io.ts";

/** C0 except tab and line feed, DEL, C1, and the marks that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const steering = /\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/** ESC as ␛, and so on; � for characters of which Unicode has no picture. */
export const visible = (text: string): string =>
  text.replaceAll(steering, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });

/**
 * A command's own escape sequences. Outputs filter text and pass bytes on, so these are bytes; text
 * from outside in them must have gone through `visible`.
 */
export const steered = (text: string): Uint8Array => new TextEncoder().encode(text);

/** @param always also if the output is not a terminal, such as a log that is shown on one later */
const guarded = (output: Output, always: boolean): Output => ({
  write: (text) =>
    output.write(typeof text === "string" && (always || output.isTTY) ? visible(text) : text),
  get isTTY() {
    return output.isTTY;
  },
  get columns() {
    return output.columns;
  },
});

/**
 * Streams that show text from outside instead of obeying it. Standard output that is not a terminal
 * receives every character unchanged, because it may be data.
 */
export const guardedIo = (io: Io): Io => ({
  stdout: guarded(io.stdout, false),
  stderr: guarded(io.stderr, true),
  get stdin() {
    return io.stdin;
  },
  get signal() {
    return io.signal;
  },
});
