/**
 * The current page and its query: `#/chess?seed=7` is the page `chess` with the query `seed=7`.
 * Addresses stand behind the #, so that any static host works.
 */

export interface Place {
  readonly path: string;
  readonly query: string;
}

/** The address at the last `hashchange` event; the address bar may be ahead of it. */
const known = $state({ hash: location.hash });

addEventListener("hashchange", () => {
  known.hash = location.hash;
});

const current = $derived.by((): Place => {
  const [path, query = ""] = known.hash.replace(/^#\/?/, "").split("?", 2);
  return { path, query };
});

/** The current page and query. */
export const place = (): Place => current;

/** The address of a page, for a link. */
export const addressOf = (path: string, query = ""): string => `#/${path}${query && `?${query}`}`;

/**
 * Replaces the query in the address bar, without an entry in the history for every move of a
 * slider. Does nothing if the reader has already navigated elsewhere: the event for that may still
 * be pending.
 */
export function replaceQuery(query: string): void {
  if (location.hash !== known.hash) return;
  history.replaceState(history.state, "", addressOf(current.path, query));
  known.hash = location.hash;
}
