/**
 * Where the reader is: `#/chess?seed=7` is the page `chess` with the query `seed=7`. Behind the #,
 * because then any host of static files will do.
 */

export interface Place {
  readonly path: string;
  readonly query: string;
}

/** The address as the page has heard of it, which may be later than the address bar. */
const heard = $state({ hash: location.hash });

addEventListener("hashchange", () => {
  heard.hash = location.hash;
});

const current = $derived.by((): Place => {
  const [path, query = ""] = heard.hash.replace(/^#\/?/, "").split("?", 2);
  return { path, query };
});

/** The place in the address bar. */
export const place = (): Place => current;

/** The address of a page, for a link. */
export const addressOf = (path: string, query = ""): string => `#/${path}${query && `?${query}`}`;

/**
 * Puts a query into the address bar, in place of the one that is there: a slider is no page that
 * one goes back to. A reader who has gone elsewhere keeps the new address: the page hears of it
 * later than the address bar.
 */
export function replaceQuery(query: string): void {
  if (location.hash !== heard.hash) return;
  history.replaceState(history.state, "", addressOf(current.path, query));
  heard.hash = location.hash;
}
