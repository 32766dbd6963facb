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

addEventListener("hashchange", () => {
  state.place = read();
});

/** The place in the address bar. */
export const place = (): Place => state.place;

/** The address of a page, for a link. */
export const addressOf = (path: string, query = ""): string => `#/${path}${query && `?${query}`}`;

/** Puts a query into the address bar, in place of the one that is there: a slider is no page that one goes back to. */
export function replaceQuery(query: string): void {
  const { path } = read();
  history.replaceState(history.state, "", addressOf(path, query));
  state.place = { path, query };
}
