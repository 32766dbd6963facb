/**
 * Where a queue is: redis://host:6379/0, rediss://user:password@host for TLS,
 * unix:///path/of/a/socket. A password is never shown.
 */
import { fail } from "diffeo/graph";

/** Where a queue is, and how it is shown: without its password. */
export interface Address {
  /** As a person may read it. */
  readonly shown: string;
  readonly options: {
    readonly host?: string;
    readonly port?: number;
    readonly path?: string;
    readonly db?: number;
    readonly username?: string;
    readonly password?: string;
    readonly tls?: Record<string, never>;
  };
}

const remedy =
  "write redis://host:6379, rediss://user:password@host:6379 or unix:///path/of/the/socket";

function parsed(text: string): URL {
  try {
    return new URL(text);
  } catch {
    // What was given may hold a password.
    return fail("usage", "the address of the queue is not a URL", remedy);
  }
}

/** A part of an address without its percent signs. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return fail(
      "usage",
      "the address of the queue has a % that begins no character",
      `${remedy}, and %25 for a percent sign`,
    );
  }
}

/**
 * The address of a queue from its text: redis://, rediss:// (TLS) or unix://.
 *
 * @throws DiffeoError of kind `usage` where the text is not an address; it is not repeated, for it
 * may hold a password
 *
 * @param password where the address has none of its own: it then stands in no list of processes
 */
export function parseAddress(text: string, password?: string): Address {
  const url = parsed(text);
  const { protocol, hostname, pathname } = url;
  const secret = url.password === "" ? password : decoded(url.password);
  const who = {
    ...(url.username !== "" && { username: decoded(url.username) }),
    password: secret,
  };
  const user = url.username === "" ? "" : `${url.username}@`;
  if (protocol === "unix:" && hostname === "" && pathname.length > 1)
    return { shown: `unix://${pathname}`, options: { path: decoded(pathname), ...who } };
  const db = /^\/?(\d{0,4})$/.exec(pathname)?.[1];
  if ((protocol !== "redis:" && protocol !== "rediss:") || hostname === "" || db === undefined)
    fail("usage", "the address of the queue names no server", remedy);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const port = url.port === "" ? 6379 : Number(url.port);
  return {
    shown: `${protocol}//${user}${hostname}:${port}${db === "" ? "" : `/${db}`}`,
    options: { host, port, db: Number(db), ...who, ...(protocol === "rediss:" && { tls: {} }) },
  };
}
