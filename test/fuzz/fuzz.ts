/**
 * Feeds a parser: it must read each input, or raise a DiffeoError of bounded length, within a time
 * limit; anything else is a bug.
 */
import { DiffeoError } from "diffeo/graph";
import fc from "fast-check";
import { parsers } from "./parsers.ts";

export interface Fed {
  readonly read: number;
  readonly refused: number;
  /** The longest time for one input, in milliseconds. */
  readonly slowest: number;
}

/** The maximal length of a message: `problem`, `remedy` and the words between them. */
const LONGEST_MESSAGE = 2100;
/** The time limit for one input, generous because a machine may stall. */
const LONGEST_MS = 5000;

export async function feed(name: string, count: number, seed: number): Promise<Fed> {
  const { input, parse } = (await parsers())[name];
  const fed = { read: 0, refused: 0, slowest: 0 };
  const property = fc.asyncProperty(input, async (given) => {
    const began = performance.now();
    try {
      await parse(given);
      fed.read++;
    } catch (error) {
      if (!(error instanceof DiffeoError)) throw error;
      if (error.message.length > LONGEST_MESSAGE)
        throw new Error(`a message of ${error.message.length} letters`);
      fed.refused++;
    }
    const took = performance.now() - began;
    fed.slowest = Math.max(fed.slowest, took);
    if (took > LONGEST_MS) throw new Error(`${took} ms for one input`);
  });
  await fc.assert(property, { numRuns: count, seed });
  return fed;
}
