/** A host without SIMD runs the scalar form of modules, with the same bits. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { hasVectors } from "../../src/engine/wasm/scalar.ts";
import { briefly } from "./no-native.ts";
import { digests } from "./scalar.ts";

it("has the bits of SIMD in every case, in a sampler and in chains", async () => {
  // Without SSE 4.1 V8 refuses vectors; on other processors the script refuses them itself.
  const script = fileURLToPath(new URL("./scalar.ts", import.meta.url));
  const flags = ["--no-enable-sse4-1", briefly, "--conditions=diffeo-source", "--import", "tsx"];
  const program = promisify(execFile)(process.execPath, [...flags, script, "--print"]);
  expect(hasVectors()).toBe(true);
  const [{ stdout }, vectors] = await Promise.all([program, digests()]);
  const scalar = JSON.parse(stdout) as typeof vectors;
  expect(scalar).toEqual(vectors);
  expect(Object.values(scalar).filter((digest) => digest !== "").length).toBeGreaterThan(250);
});
