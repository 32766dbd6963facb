/** diffeo studio: what it serves, to whom, and what it says when it cannot. */
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Serving, serveFolder } from "../../src/studio/server.ts";
import { diffeoWith } from "../run.ts";

const root = mkdtempSync(join(tmpdir(), "diffeo-served-"));
const folder = join(root, "dist");
/** More than a connection buffers. */
const LARGE = 64 * 2 ** 20;
let serving: Serving;

beforeAll(async () => {
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(root, "secret.txt"), "not for you");
  writeFileSync(join(folder, "index.html"), "<!doctype html>");
  writeFileSync(join(folder, "assets", "a-1.wasm"), "wasm");
  writeFileSync(join(folder, "assets", "worker-1.js"), "");
  writeFileSync(join(folder, "gone.md"), "removed while it is served");
  writeFileSync(join(folder, "large.md"), Buffer.alloc(LARGE));
  symlinkSync("circle.md", join(folder, "circle.md"));
  symlinkSync("nothing.md", join(folder, "dangling.md"));
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

describe("a served folder", () => {
  it("is isolated, so that WebAssembly may use threads, and has content types", async () => {
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
      body: "File not found. Open /\n",
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
    // Two names in one request are refused, whichever comes first.
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(
      "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    );
    const [answer] = await once(socket, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 403 /);
    socket.destroy();
  });
});

/** How many descriptors of this process are open on a file; Linux lists them. */
const descriptors = "/proc/self/fd";
const openOn = (file: string): number =>
  readdirSync(descriptors).filter((fd) => {
    const link = join(descriptors, fd);
    // The one that reads the list is closed by now.
    return existsSync(link) && readlinkSync(link) === file;
  }).length;

/** Asks for a file and leaves after the first bytes. */
const abort = (path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(serving.url);
    const asked = request({ hostname, port, path, agent: false }, (response) => {
      response.once("data", () => asked.destroy());
      response.once("close", resolve).on("error", () => undefined);
    });
    asked.on("error", reject).end();
  });

describe("a server under attack", () => {
  it("continues after a file of its folder was removed", async () => {
    rmSync(join(folder, "gone.md"));
    expect(await ask("/gone.md")).toMatchObject({ status: 404 });
    expect(await ask("/gone.md", {}, "HEAD")).toMatchObject({ status: 404 });
    expect((await ask("/")).status).toBe(200);
  });

  it("starts in a folder with circular and dangling links, and ignores these", async () => {
    for (const path of ["/circle.md", "/dangling.md"])
      expect(await ask(path)).toMatchObject({ status: 404 });
  });

  it.skipIf(!existsSync(descriptors))("closes the file of a download that is aborted", async () => {
    const file = join(folder, "large.md");
    for (let i = 0; i < 20; i++) await abort("/large.md");
    await expect.poll(() => openOn(file)).toBe(0);
    expect((await ask("/")).status).toBe(200);
  });

  it.skipIf(!existsSync(descriptors))("opens one file per connection at a time", async () => {
    const file = join(folder, "large.md");
    const { hostname, port } = new URL(serving.url);
    const socket = connect(Number(port), hostname).on("error", () => undefined);
    // A reader that asks for much and reads nothing.
    socket.pause().write("GET /large.md HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20));
    await expect.poll(() => openOn(file)).toBe(1);
    expect((await ask("/")).status).toBe(200);
    expect(openOn(file)).toBe(1);
    socket.destroy();
    await expect.poll(() => openOn(file)).toBe(0);
  });

  it("ends a response whose file becomes shorter, instead of letting the client wait", async () => {
    const { hostname, port } = new URL(serving.url);
    const received = await new Promise<number>((resolve, reject) => {
      let bytes = 0;
      request({ hostname, port, path: "/large.md", agent: false }, (response) => {
        response.once("data", () => truncateSync(join(folder, "large.md")));
        response.on("data", (data: Buffer) => {
          bytes += data.length;
        });
        response.on("error", () => undefined).once("close", () => resolve(bytes));
      })
        .on("error", reject)
        .end();
    });
    expect(received).toBeLessThan(LARGE);
    expect((await ask("/")).status).toBe(200);
  });

  it.each(["no-cors", "cors"])("refuses %s requests of pages of other origins", async (mode) => {
    for (const site of ["cross-site", "same-site"]) {
      const headers = { "sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": "empty" };
      expect((await ask("/assets/a-1.wasm", headers)).status).toBe(403);
    }
    const own = { "sec-fetch-site": "same-origin", "sec-fetch-mode": mode };
    expect((await ask("/assets/a-1.wasm", own)).status).toBe(200);
  });

  it("allows only the studio's worker to run typed code", async () => {
    const policy = async (path: string) => (await ask(path)).headers["content-security-policy"];
    expect(await policy("/assets/worker-1.js")).toContain("'unsafe-eval'");
    for (const path of ["/", "/assets/a-1.wasm"])
      expect(await policy(path)).not.toContain("'unsafe-eval'");
    expect(await policy("/assets/worker-1.js")).toContain("connect-src 'self'");
  });

  it("follows a link from another site, but not into its frame", async () => {
    const from = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    const link = await ask("/", { ...from, "sec-fetch-dest": "document" });
    expect(link.status).toBe(200);
    expect(link.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect((await ask("/", { ...from, "sec-fetch-dest": "iframe" })).status).toBe(403);
  });
});

describe("diffeo studio", () => {
  it("says what to do if the port is in use", async () => {
    const port = Number(new URL(serving.url).port);
    await expect(serveFolder(folder, port)).rejects.toMatchObject({
      kind: "usage",
      message: `port ${port} is in use, perhaps by another studio. Choose another \`port\`, or 0 for a free one.`,
    });
  });

  it("refuses an invalid port", async () => {
    const { code, stderr } = await diffeoWith({}, "studio", "--port", "70000");
    expect(code).toBe(2);
    expect(stderr).toContain("Give an integer from 0 to 65,535");
  });
});
