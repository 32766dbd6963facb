/** The list of pages as a Svelte context, for a page that links to the others. */
import { createContext } from "svelte";

export interface Entry {
  /** The address after the #. */
  readonly path: string;
  readonly title: string;
  /** What the page does, in one line. */
  readonly about: string;
}

export const [contents, setContents] = createContext<readonly Entry[]>();
