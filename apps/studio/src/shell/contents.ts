/**
 * What there is to see, for pages that lead to others: the frame gives it, so that no page has to
 * know of all.
 */
import { createContext } from "svelte";

export interface Entry {
  /** The address after the #. */
  readonly path: string;
  readonly title: string;
  /** A line about it. */
  readonly about: string;
}

export const [contents, setContents] = createContext<readonly Entry[]>();
