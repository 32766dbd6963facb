/** A plain HTTP server of files that sets no header except the type, like the simplest hosts. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};

export interface Server {
  /** Its address, without a slash at the end. */
  readonly url: string;
  /** The paths that were requested, in order. */
  readonly requested: readonly string[];
  close(): void;
}

/** Serves folders by the first part of the path. */
export async function serve(folders: Readonly<Record<string, string>>): Promise<Server> {
  const requested: string[] = [];
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURI(new URL(request.url ?? "/", "http://host").pathname));
    requested.push(path);
    const mount = Object.keys(folders)
      .filter((prefix) => path.startsWith(prefix))
      .sort((a, b) => b.length - a.length)[0];
    const file = join(folders[mount], path.slice(mount.length).replace(/(^|\/)$/, "$1index.html"));
    try {
      const body = await readFile(file);
      const type = types[extname(file)] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requested, close: () => server.close() };
}
