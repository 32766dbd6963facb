/**
 * Nothing leaves the machine: ONNX Runtime's telemetry is off in the main thread, in workers and in
 * child processes, also where a program imports only the library. Each program runs in an
 * environment without CI, which would turn the telemetry off by itself, and in fresh folders for
 * home, cache and temporary files.
 */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { built } from "../../../test/build.ts";
import { testFolder } from "../../../test/folder.ts";

const { folder } = testFolder("telemetry");
const library = JSON.stringify(join(built(), "packages", "diffeo", "dist", "index.js"));
const command = join(built(), "apps", "cli", "dist", "main.js");

const traceable =
  spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "true"], { timeout: 10_000 }).status === 0;
if (!traceable) console.warn("strace cannot trace here: connections of programs are not looked at");

interface Seen {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Files under the fresh folders. */
  readonly files: readonly string[];
  /** System calls that leave the machine, or look a host up. */
  readonly calls: readonly string[];
}

/** Files that the C library reads in order to look a host up. */
const lookups = /"\/etc\/(resolv\.conf|hosts|gai\.conf)"/;

function watch(...words: readonly string[]): Seen {
  const fresh = mkdtempSync(join(folder, "fresh-"));
  const at = (name: string): string => join(fresh, name);
  for (const name of ["home", "cache", "tmp"]) mkdirSync(at(name));
  const trace = join(folder, "trace");
  const strace = ["-f", "-qq", "-e", "trace=openat,connect,sendto,sendmsg,sendmmsg", "-o", trace];
  const [program, ...rest] = [...(traceable ? ["strace", ...strace] : []), process.execPath];
  const { status, stdout, stderr } = spawnSync(program as string, [...rest, ...words], {
    encoding: "utf8",
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: at("home"),
      XDG_CACHE_HOME: at("cache"),
      TMPDIR: at("tmp"),
    },
  });
  const calls = traceable ? readFileSync(trace, "utf8").split("\n") : [];
  return {
    code: status,
    stdout,
    stderr,
    files: readdirSync(fresh, { recursive: true, encoding: "utf8" }).filter((f) => f.includes("/")),
    calls: calls.filter((call) => /AF_INET6?/.test(call) || lookups.test(call)),
  };
}

const silent = { code: 0, files: [], calls: [] };

const compute = `const { compile, exp, sum } = await import(${library});
const f = compile((x) => sum(exp(x)), [[2]], { worker: WORKER, device: "onnxruntime" });
console.log((await f([0, 0])).data[0]);
await f.dispose();`;
const program = (worker = false): string => compute.replace("WORKER", String(worker));

function script(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

describe("a program that imports the library sends nothing and leaves no file", () => {
  it.each([
    ["on its main thread", program()],
    ["on the worker thread of the library", program(true)],
    [
      "on a worker thread of its own alone",
      `import { Worker, isMainThread } from "node:worker_threads";
       if (isMainThread) new Worker(new URL(import.meta.url));
       else { ${program()} }`,
    ],
    [
      "on a worker thread of its own, while the main thread computes",
      `import { Worker, isMainThread } from "node:worker_threads";
       if (isMainThread) {
         new Worker(new URL(import.meta.url)).once("online", () => {
           const start = Date.now();
           while (Date.now() - start < 500);
         });
       } else { ${program(true)} }`,
    ],
  ])("%s", (_, text) => {
    expect(watch(script("program.mjs", text))).toMatchObject({ ...silent, stdout: "2\n" });
  });

  it("computes in WebAssembly in a worker that cannot reach the main thread, and says why", () => {
    const text = `import { execFileSync } from "node:child_process";
       import { writeFileSync } from "node:fs";
       import { Worker, isMainThread } from "node:worker_threads";
       if (isMainThread) {
         new Worker(new URL(import.meta.url));
         execFileSync("sh", ["-c", "until [ -e done ]; do sleep 0.1; done"]);
       } else {
         const { devices } = await import(${library});
         ${program(true)}
         console.log((await devices()).find(({ name }) => name === "onnxruntime").description);
         writeFileSync("done", "");
       }`;
    const seen = watch(script("waiting.mjs", text));
    expect(seen).toMatchObject({ ...silent, stdout: expect.stringMatching(/^2\n.*ORT_DISABLE/) });
  });

  it("has 40 KB of arguments", () => {
    const words = Array.from(
      { length: 1000 },
      (_, i) => `a/folder/with/many/tables/the-table-${i}`,
    );
    expect(watch(script("words.mjs", program()), ...words)).toMatchObject(silent);
  });
});

describe("commands send nothing and leave no file", () => {
  const rows = Array.from({ length: 60 }, (_, i) => `${(i * 7) % 11},${(i * i) % 13}`);

  it("that fit, export and sample a table, sampling in several processes", () => {
    writeFileSync(join(folder, "rows.csv"), `secret,other\n${rows.join("\n")}\n`);
    const fit = ["rows.csv", "--out", "a.model", "--steps", "1", "--no-evaluate"];
    expect(watch(command, "table", "fit", ...fit)).toMatchObject(silent);
    const exported = ["--model", "a.model", "--out", "a.onnx"];
    expect(watch(command, "table", "export", ...exported)).toMatchObject(silent);
    const sampling = ["--count", "2000", "--workers", "2"];
    const sample = ["table", "sample", "--model", "a.model", ...sampling, "--out", "b.csv"];
    expect(watch(command, ...sample)).toMatchObject(silent);
    expect(existsSync(join(folder, "b.csv"))).toBe(true);
  });
});

it.runIf(traceable)("the check detects a lookup and a connection", () => {
  const text = `import net from "node:net"; net.connect(9, "localhost").on("error", () => {});`;
  const { calls } = watch(script("connect.mjs", text));
  expect(calls).toContainEqual(expect.stringMatching(lookups));
  expect(calls).toContainEqual(expect.stringMatching(/connect\(.*AF_INET/));
});
