/**
 * Properties draw the same cases every time, so that a failure is a change; FC_SEED=NUMBER draws
 * others. Arrays of the same bytes are equal: element by element a matcher takes seconds for a
 * model.
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
    return sameBytes(a, b) || undefined; // whether one NaN is another, the matcher says
  },
]);
