/**
 * Static files for this machine alone. It listens on 127.0.0.1, answers only to that name and
 * localhost's (a page of another name that points here is refused: DNS rebinding), and serves the
 * files that were in its folder when it started, by their names, so that no path leads out of it.
 * The headers are those that threads of WebAssembly need, and let the page fetch from here alone.
 */
import { createReadStream, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, sep } from "node:path";
import { fail } from "diffeo/graph";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".md": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

const HEADERS: Readonly<Record<string, string>> = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy":
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** The folder's files by the path that asks for them. */
async function filesIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
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

function send(response: ServerResponse, path: string, file: string, head: boolean): void {
  response.writeHead(200, {
    ...HEADERS,
    "content-type": TYPES[extname(file)] ?? "application/octet-stream",
    "content-length": statSync(file).size,
    // Names of assets change with their content.
    "cache-control": path.startsWith("/assets/")
      ? "public, max-age=31536000, immutable"
      : "no-cache",
  });
  if (head) response.end();
  else
    createReadStream(file)
      .on("error", () => response.destroy())
      .pipe(response);
}

/** The path of a request; nothing where it is none. */
function pathOf({ url = "/" }: IncomingMessage): string | undefined {
  try {
    return decodeURIComponent(url.split(/[?#]/, 1)[0]);
  } catch {
    return undefined;
  }
}

/** Whether a request was meant for this machine by name. */
const isLocal = ({ headers: { host = "" } }: IncomingMessage): boolean =>
  /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host);

function answer(
  files: ReadonlyMap<string, string>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { method = "GET" } = request;
  const path = pathOf(request);
  const file = path === undefined ? undefined : files.get(path);
  if (!isLocal(request))
    say(
      response,
      403,
      "This server answers to 127.0.0.1 and localhost alone. Open the address that it printed.",
    );
  else if (method !== "GET" && method !== "HEAD")
    say(response, 405, "There is nothing here but files to read.");
  else if (path === undefined || file === undefined)
    say(response, 404, "There is no such file. Begin at /");
  else send(response, path, file, method === "HEAD");
}

export interface Serving {
  readonly url: string;
  /** Ends it, and every connection. */
  close(): Promise<void>;
}

const listening = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });

/** @param port 0 takes one that is free */
export async function serveFolder(folder: string, port: number): Promise<Serving> {
  const files = await filesIn(folder);
  const server = createServer((request, response) => answer(files, request, response));
  await listening(server, port).catch((error: NodeJS.ErrnoException) => {
    const cause =
      error.code === "EADDRINUSE"
        ? `port ${port} is taken, perhaps by another studio`
        : `port ${port} cannot be listened on (${error.code})`;
    fail("usage", cause, "give another `port`, or 0 for one that is free");
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
