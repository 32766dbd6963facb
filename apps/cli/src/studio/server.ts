/**
 * A server of static files for this machine. It listens on 127.0.0.1 and answers requests for that
 * name and localhost: it refuses other names that resolve to this address (DNS rebinding). It also
 * refuses requests from pages of other origins, and no page may frame it. It serves the files that
 * the folder contained at the start, by their names, so that no path leads out of the folder.
 */

import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { extname, join, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { fail } from "diffeo/graph";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".md": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

/**
 * What a page may load and run: files of this server. Svelte and KaTeX write style attributes;
 * boards become pictures by way of data: and blob: addresses; WebAssembly is compiled.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/**
 * The file of the studio's worker: only it may run code that the user typed, the model of a
 * posterior. A worker cannot change the page, and reads only from this server.
 */
const WORKER = /^\/assets\/worker-[\w-]+\.js$/;

const policyOf = (path: string): string =>
  POLICY.map((rule) =>
    rule.startsWith("script-src") && WORKER.test(path) ? `${rule} 'unsafe-eval'` : rule,
  ).join("; ");

/** The first three isolate the page, which WebAssembly threads need. */
const HEADERS: Readonly<Record<string, string>> = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": POLICY.join("; "),
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** Whether there is a regular file; not where a link is dangling, circular or unreadable. */
const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

/** The folder's files by the path of a request. */
async function filesIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(folder, { recursive: true });
  const present = await Promise.all(names.map((name) => isFile(join(folder, name))));
  const files = names.filter((_, i) => present[i]);
  const byPath = files.map(
    (name) => [`/${name.split(sep).join("/")}`, join(folder, name)] as const,
  );
  return new Map([...byPath, ["/", join(folder, "index.html")]]);
}

function say(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, { ...HEADERS, "content-type": "text/plain; charset=utf-8" })
    .end(`${text}\n`);
}

const NOT_FOUND = "File not found. Open /";

/** The body of a response: a stream that is closed with its file, also when the reader leaves. */
async function stream(file: FileHandle, size: number, response: ServerResponse): Promise<void> {
  const body = file.createReadStream({ autoClose: false });
  await pipeline(body, response);
  // The file became shorter: unless the connection closes, the reader waits for the rest.
  if (body.bytesRead < size) response.destroy();
}

async function send(response: ServerResponse, path: string, name: string, head: boolean) {
  const file = await open(name).catch(() => undefined);
  // Removed, or made unreadable, since the start.
  if (file === undefined) return say(response, 404, NOT_FOUND);
  try {
    const { size } = await file.stat();
    response.writeHead(200, {
      ...HEADERS,
      "content-security-policy": policyOf(path),
      "content-type": TYPES[extname(name)] ?? "application/octet-stream",
      "content-length": size,
      // Names of assets change with their content.
      "cache-control": path.startsWith("/assets/")
        ? "public, max-age=31536000, immutable"
        : "no-cache",
    });
    if (head) response.end();
    else await stream(file, size, response);
  } finally {
    await file.close();
  }
}

/** The path of a request; undefined if it cannot be decoded. */
function pathOf({ url = "/" }: IncomingMessage): string | undefined {
  try {
    return decodeURIComponent(url.split(/[?#]/, 1)[0]);
  } catch {
    return undefined;
  }
}

/** Whether a request names this machine as its host, and no other. */
const isLocal = ({ headersDistinct: { host: hosts = [] } }: IncomingMessage): boolean =>
  hosts.length === 1 && /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(hosts[0]);

/**
 * Whether a page of another origin made a request. Browsers state this in Sec-Fetch-Site. A link
 * that the user follows is allowed.
 */
const isForeign = ({ headers }: IncomingMessage): boolean => {
  const site = headers["sec-fetch-site"];
  const isOwn = site === undefined || site === "same-origin" || site === "none";
  return !isOwn && headers["sec-fetch-dest"] !== "document";
};

async function answer(
  files: ReadonlyMap<string, string>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = "GET" } = request;
  const path = pathOf(request);
  const file = path === undefined ? undefined : files.get(path);
  if (!isLocal(request))
    say(
      response,
      403,
      "This server answers only to 127.0.0.1 and localhost. Open the address that it printed.",
    );
  else if (isForeign(request))
    say(response, 403, "This server does not answer to pages of other origins.");
  else if (method !== "GET" && method !== "HEAD")
    say(response, 405, "This server only serves files. Send GET or HEAD.");
  else if (path === undefined || file === undefined) say(response, 404, NOT_FOUND);
  else await send(response, path, file, method === "HEAD");
}

/**
 * Calls `task` after those of the same connection have ended. Node hands out the requests that a
 * reader sends without waiting all at once: every response would open its file and wait, and
 * a response that is still waiting gets no event when the reader disconnects.
 */
function oneAtATime() {
  const last = new WeakMap<Socket, Promise<void>>();
  return (socket: Socket, task: () => Promise<void>): void => {
    const next = (last.get(socket) ?? Promise.resolve()).then(() =>
      socket.destroyed ? undefined : task(),
    );
    last.set(socket, next);
  };
}

export interface Serving {
  readonly url: string;
  /** Stops the server and closes every connection. */
  close(): Promise<void>;
}

const listening = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });

/**
 * Serves the files of a folder.
 *
 * @param port 0 takes a free one
 */
export async function serveFolder(folder: string, port: number): Promise<Serving> {
  const files = await filesIn(folder);
  const inTurn = oneAtATime();
  const server = createServer((request, response) => {
    inTurn(request.socket, () =>
      // A client that disconnects, or a file that cannot be read to its end, ends only this
      // response.
      answer(files, request, response).catch(() => void response.destroy()),
    );
  });
  await listening(server, port).catch((error: NodeJS.ErrnoException) => {
    const cause =
      error.code === "EADDRINUSE"
        ? `port ${port} is in use, perhaps by another studio`
        : `port ${port} cannot be opened (${error.code})`;
    fail("usage", cause, "choose another `port`, or 0 for a free one");
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
