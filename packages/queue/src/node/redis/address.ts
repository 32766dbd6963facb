/**
 * The address of a queue: redis://host:6379/0, rediss://user:password@host for TLS,
 * unix:///path/of/a/socket. Passwords are never displayed.
 */
import { fail } from "diffeo/graph";

/** The address of a queue, and its displayed form without the password. */
export interface Address {
  /** The displayed form. */
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
    // The address may contain a password, so it is not repeated.
    return fail("usage", "the address of the queue is not a URL", remedy);
  }
}

/** A part of an address after percent-decoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return fail(
      "usage",
      "the address of the queue has an invalid % escape",
      `${remedy}, with %25 for a percent sign`,
    );
  }
}

/**
 * The address of a queue from its text: redis://, rediss:// (TLS) or unix://.
 *
 * @throws DiffeoError of kind `usage` if the text is not an address; the message does not repeat
 * the text, which may contain a password
 *
 * @param password used if the address has none, so that it does not appear in lists of processes
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
    fail("usage", "the address of the queue does not name a server", remedy);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const port = url.port === "" ? 6379 : Number(url.port);
  return {
    shown: `${protocol}//${user}${hostname}:${port}${db === "" ? "" : `/${db}`}`,
    options: { host, port, db: Number(db), ...who, ...(protocol === "rediss:" && { tls: {} }) },
  };
}
