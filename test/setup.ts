/**
 * Properties draw the same cases every time, so that a failure is a change; FC_SEED=NUMBER draws others. Bytes are compared as
 * such: element by element a matcher takes seconds for a model.
 */
import fc from "fast-check";
import { expect } from "vitest";

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 2024) });

expect.addEqualityTesters([
  (a, b) => (a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : undefined),
]);
