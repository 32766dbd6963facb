/**
 * Kinds of jobs for tests and benchmarks alone: jobs that take a time, need an input, fail, or
 * are too large.
 */
import { createHash } from "node:crypto";
import { fail } from "diffeo/graph";
import type { Kind, Kinds } from "diffeo-queue";
import * as v from "valibot";

export const RELEASE = "0.0.0-test";

const natural = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const bytes = { make: (result: Uint8Array) => result, parse: (result: Uint8Array) => result };

export interface Spin {
  readonly ms: number;
  readonly n: number;
}

const resultOf = (n: number): Uint8Array => createHash("sha512").update(`job ${n}`).digest();

/** Keeps a core busy for a time; the result is a function of n. */
export const spin: Kind<Spin, Uint8Array> = {
  name: "test/spin",
  version: 1,
  parameters: v.strictObject({ ms: v.pipe(v.number(), v.minValue(0)), n: natural }),
  run: async ({ ms, n }) => {
    const until = performance.now() + ms;
    while (performance.now() < until);
    return resultOf(n);
  },
  ...bytes,
};

/** The same result; its process is as deaf as a busy one, but leaves the core to others. */
export const still: Kind<Spin, Uint8Array> = {
  ...spin,
  name: "test/still",
  run: async ({ ms, n }) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    return resultOf(n);
  },
};

/** Its input's bytes, backwards. */
export const reversed: Kind<object, Uint8Array> = {
  name: "test/reversed",
  version: 2,
  parameters: v.strictObject({}),
  run: async (_, { input }) => (await input("file")).toReversed(),
  ...bytes,
};

export const failing: Kind<{ readonly how: "said" | "lost" }, Uint8Array> = {
  name: "test/failing",
  version: 1,
  parameters: v.strictObject({ how: v.picklist(["said", "lost"]) }),
  run: async ({ how }, { report }) => {
    report(0.5);
    // What was reported is on its way before the process ends.
    await new Promise((done) => setTimeout(done, 50));
    return how === "said" ? fail("data", "the job is broken", "mend it") : process.exit(7);
  },
  ...bytes,
};

/** As many zeros, held for a while. */
export const large: Kind<{ readonly size: number }, Uint8Array> = {
  name: "test/large",
  version: 1,
  parameters: v.strictObject({ size: natural }),
  run: async ({ size }) => new Uint8Array(size),
  ...bytes,
};

export const kinds: Kinds = Object.fromEntries(
  [spin, still, reversed, failing, large].map((kind) => [kind.name, async () => kind]),
) as Kinds;
