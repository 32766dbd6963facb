/**
 * Settings of all tests. fast-check draws the same cases in every run, so that a new failure has
 * its cause in a change; FC_SEED=NUMBER sets another seed. Arrays are compared by their bytes,
 * since a comparison by elements takes seconds for a model.
 */
import fc from "fast-check";
import { expect } from "vitest";

// Tests that import onnxruntime-node themselves send no telemetry either.
process.env.ORT_DISABLE_TELEMETRY = "1";

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 2024) });

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const sameBytes = (a: ArrayBufferView, b: ArrayBufferView): boolean =>
  Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

expect.addEqualityTesters([
  (a, b) => {
    if (a instanceof Uint8Array && b instanceof Uint8Array) return sameBytes(a, b);
    if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b) || a.constructor !== b.constructor)
      return undefined;
    return sameBytes(a, b) || undefined; // the matcher decides whether NaNs are equal
  },
]);
