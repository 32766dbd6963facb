/**
 * A browser page on a folder that is served cross-origin isolated, which WebAssembly threads need.
 */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import type { Browser, Page } from "playwright-core";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

async function serve(folder: string): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://localhost").pathname);
    try {
      const body = await readFile(join(folder, path === "/" ? "index.html" : path));
      response.writeHead(200, {
        "content-type":
          types[extname(path || ".html")] ??
          (path === "/" ? "text/html" : "application/octet-stream"),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
      });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => server.close(),
  };
}

/** The folder's index.html, open in a browser. */
export interface OpenPage {
  readonly page: Page;
  close(): Promise<void>;
}

export async function openPage(folder: string, browser: Browser): Promise<OpenPage> {
  const server = await serve(folder);
  const page = await browser.newPage();
  await page.goto(server.url);
  return {
    page,
    close: async () => {
      await page.close();
      server.close();
    },
  };
}
