/**
 * Where the reader is: `#/chess?seed=7` is the page `chess` with the query `seed=7`. Behind the #, because then any host of
 * static files will do.
 */

export interface Place {
  readonly path: string;
  readonly query: string;
}

function read(): Place {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { path, query };
}

const state = $state({ place: read() });
/** The address that `place` was read from. */
let known = location.hash;

addEventListener("hashchange", () => {
  state.place = read();
  known = location.hash;
});

/** The place in the address bar. */
export const place = (): Place => state.place;

/** The address of a page, for a link. */
export const addressOf = (path: string, query = ""): string => `#/${path}${query && `?${query}`}`;

/**
 * Puts a query into the address bar, in place of the one that is there: a slider is no page that one goes back to. A reader who has
 * gone elsewhere keeps the new address: the page hears of it later than the address bar.
 */
export function replaceQuery(query: string): void {
  if (location.hash !== known) return;
  const { path } = state.place;
  history.replaceState(history.state, "", addressOf(path, query));
  state.place = { path, query };
  known = location.hash;
}
