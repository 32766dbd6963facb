/** A worker for the tests of the pool: jobs that succeed, fail, wait, or end their process. */
import { readdirSync } from "node:fs";
import { fail } from "diffeo/graph";
import { serveJobs } from "diffeo/node";

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

serveJobs({
  square: async (x: number, { report }) => {
    report(`at ${x}`);
    await wait(10 * (5 - x));
    return x * x;
  },
  array: async (values: Float64Array) => values.map((v) => 2 * v),
  pid: async () => process.pid,
  place: async () => ({ folder: process.cwd(), files: readdirSync(".") }),
  sum: async (names: string[], { ask }) => {
    const numbers = await Promise.all(names.map((name) => ask(name)));
    return (numbers as number[]).reduce((a, b) => a + b);
  },
  large: async (bytes: number) => {
    const held = new Uint8Array(bytes).fill(1);
    await wait(1e8);
    return held;
  },
  broken: async () => fail("data", "the job is broken", "mend it"),
  odd: async () => Promise.reject(new TypeError("odd")),
  lost: async () => process.kill(process.pid, "SIGKILL"),
  left: async (code: number) => process.exit(code),
  forever: async (_: null, { report }) => {
    report(process.pid);
    await wait(1e8);
  },
});
