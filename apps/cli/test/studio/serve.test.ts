/** diffeo studio: what it serves, to whom, and what it says when it cannot. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Serving, serveFolder } from "../../src/studio/server.ts";
import { diffeoWith } from "../run.ts";

const root = mkdtempSync(join(tmpdir(), "diffeo-served-"));
const folder = join(root, "dist");
let serving: Serving;

beforeAll(async () => {
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(root, "secret.txt"), "not for you");
  writeFileSync(join(folder, "index.html"), "<!doctype html>");
  writeFileSync(join(folder, "assets", "a-1.wasm"), "wasm");
  serving = await serveFolder(folder, 0);
});

afterAll(async () => {
  await serving.close();
  rmSync(root, { recursive: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A request as it is written: `fetch` would tidy the path and set the host. */
const ask = (
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = "GET",
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(serving.url);
    request({ hostname, port, path, headers, method }, (response) => {
      let body = "";
      response.on("data", (data) => {
        body += data;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode, headers: response.headers, body }),
      );
    })
      .on("error", reject)
      .end();
  });

describe("a folder that is served", () => {
  it("is isolated, so that WebAssembly may have threads, and typed", async () => {
    const page = await ask("/");
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-length": "15",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-embedder-policy": "require-corp",
      "cache-control": "no-cache",
    });
    const wasm = await ask("/assets/a-1.wasm?v=1");
    expect([wasm.body, wasm.headers["content-type"]]).toEqual(["wasm", "application/wasm"]);
    expect(wasm.headers["cache-control"]).toContain("immutable");
    expect(await ask("/", {}, "HEAD")).toMatchObject({ status: 200, body: "" });
  });

  it.each([
    "/../secret.txt",
    "/..%2fsecret.txt",
    "/%2e%2e/secret.txt",
    "/assets/../../secret.txt",
    "/assets",
    "//etc/passwd",
    "/%",
    "/%00",
    "/index.html/",
  ])("has nothing at %s", async (path) => {
    expect(await ask(path)).toMatchObject({
      status: 404,
      body: "There is no such file. Begin at /\n",
    });
  });

  it("refuses requests under another name, and anything but reading", async () => {
    const { port } = new URL(serving.url);
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      "127.0.0.1.evil.example",
      "localhost.evil.example:80",
    ])
      expect((await ask("/", { host })).status).toBe(403);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`])
      expect((await ask("/", { host })).status).toBe(200);
    expect((await ask("/", {}, "POST")).status).toBe(405);
  });
});

describe("diffeo studio", () => {
  it("says what to do where the port is taken", async () => {
    const port = Number(new URL(serving.url).port);
    await expect(serveFolder(folder, port)).rejects.toMatchObject({
      kind: "usage",
      message: `port ${port} is taken, perhaps by another studio. Give another \`port\`, or 0 for one that is free.`,
    });
  });

  it("refuses what is no port", async () => {
    const { code, stderr } = await diffeoWith({}, "studio", "--port", "70000");
    expect(code).toBe(2);
    expect(stderr).toContain("give a whole number from 0 to 65,535");
  });
});
