/** Arrays of classes: a byte per site for up to 256 classes, two bytes for more. */
import { fail } from "../graph/index.ts";

/** Classes of sites, one grid after the other. */
export type ClassArray = Uint8Array | Uint16Array;

/** The largest number of classes: code points take a table of classes² numbers. */
export const MOST_CLASSES = 1024;

/** An array of `length` numbers from 0 to `most`, all of them 0. */
export const classArray = (length: number, most: number): ClassArray =>
  most < 256 ? new Uint8Array(length) : new Uint16Array(length);

/** Throws unless the number of classes is one that an encoding can have. */
export function requireClasses(classes: number): void {
  if (!(Number.isSafeInteger(classes) && classes >= 2 && classes <= MOST_CLASSES))
    fail("usage", `${classes} classes`, `use 2 to ${MOST_CLASSES} classes`);
}
