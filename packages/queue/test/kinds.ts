/**
 * Kinds of jobs for tests and benchmarks alone: jobs that take a time, need an input, fail, or
 * are too large.
 */
import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail } from "diffeo/graph";
import type { Kind, Kinds } from "diffeo/job";
import * as v from "valibot";

export const RELEASE = "0.0.0-test";

const natural = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const bytes = {
  serialize: (result: Uint8Array) => result,
  parse: (result: Uint8Array) => result,
  misfit: (): string | undefined => undefined,
};

export interface Spin {
  readonly ms: number;
  readonly n: number;
}

const resultOf = (n: number): Uint8Array => createHash("sha512").update(`job ${n}`).digest();

/** Keeps a core busy for a time; the result is a function of n. */
export const spin: Kind<Spin, object, Uint8Array> = {
  name: "test/spin",
  version: 1,
  parameters: v.strictObject({ ms: v.pipe(v.number(), v.minValue(0)), n: natural }),
  inputs: {},
  run: async ({ ms, n }) => {
    const until = performance.now() + ms;
    while (performance.now() < until);
    return resultOf(n);
  },
  ...bytes,
};

/** The same result; its process is as deaf as a busy one, but leaves the core to others. */
export const still: Kind<Spin, object, Uint8Array> = {
  ...spin,
  name: "test/still",
  run: async ({ ms, n }) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    return resultOf(n);
  },
};

export interface Gate {
  /** Where the job writes a file `began`, and then waits until there is a file `go`. */
  readonly folder: string;
  readonly n: number;
}

/** The same result, between two moments that a test chooses. */
export const gated: Kind<Gate, object, Uint8Array> = {
  name: "test/gated",
  version: 1,
  parameters: v.strictObject({ folder: v.string(), n: natural }),
  inputs: {},
  run: async ({ folder, n }) => {
    writeFileSync(join(folder, "began"), "");
    while (!existsSync(join(folder, "go"))) await new Promise((done) => setTimeout(done, 20));
    return resultOf(n);
  },
  ...bytes,
};

/** Its input's bytes, backwards. */
export const reversed: Kind<object, { readonly file: Uint8Array }, Uint8Array> = {
  name: "test/reversed",
  version: 2,
  parameters: v.strictObject({}),
  inputs: { file: (found) => found },
  run: async (_, { input }) => (await input("file")).toReversed(),
  ...bytes,
};

export const failing: Kind<{ readonly how: "said" | "lost" }, object, Uint8Array> = {
  name: "test/failing",
  version: 1,
  parameters: v.strictObject({ how: v.picklist(["said", "lost"]) }),
  inputs: {},
  run: async ({ how }, { report }) => {
    report(0.5);
    // What was reported is on its way before the process ends.
    await new Promise((done) => setTimeout(done, 50));
    return how === "said" ? fail("data", "the job is broken", "fix it") : process.exit(7);
  },
  ...bytes,
};

/** As many zeros, held for a while. */
export const large: Kind<{ readonly size: number }, object, Uint8Array> = {
  name: "test/large",
  version: 1,
  parameters: v.strictObject({ size: natural }),
  inputs: {},
  run: async ({ size }) => new Uint8Array(size),
  ...bytes,
};

/** As many lines as there are numbers; what is made of it must have as many. */
export const lines: Kind<{ readonly count: number }, object, readonly string[]> = {
  name: "test/lines",
  version: 1,
  parameters: v.strictObject({ count: natural }),
  inputs: {},
  run: async ({ count }) => Array.from({ length: count }, (_, i) => `line ${i + 1}`),
  serialize: (all) => new TextEncoder().encode(all.join("\n")),
  parse: (found, source) => {
    const text = new TextDecoder().decode(found);
    return text.startsWith("line ") ? text.split("\n") : fail("data", `${source} is not lines`, "");
  },
  misfit: (all, { count }) =>
    all.length === count ? undefined : `it has ${all.length} lines, but the job has ${count}`,
};

export const kinds: Kinds = Object.fromEntries(
  [spin, still, gated, reversed, failing, large, lines].map((kind) => [
    kind.name,
    async () => kind,
  ]),
) as Kinds;
