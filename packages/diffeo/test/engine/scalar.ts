/**
 * Results of modules as digests by name: every case in both types, a chain, a sampler. As a program
 * it prints them, and whether its host has SIMD.
 */
import { createHash } from "node:crypto";
import { gaussian } from "../../src/distribution/index.ts";
import { wasmSession } from "../../src/engine/wasm/index.ts";
import { hasVectors } from "../../src/engine/wasm/scalar.ts";
import * as diffeo from "../../src/index.ts";
import { openChains } from "../../src/mcmc/chains.ts";
import { key, normal } from "../../src/random/index.ts";
import { sample } from "../../src/sampler/index.ts";
import { reverse, vp } from "../../src/sde/index.ts";
import { type Case, cases } from "./cases.ts";

type Digests = Record<string, string>;

const digest = (arrays: readonly diffeo.NdArray[]): string => {
  const hash = createHash("sha256");
  for (const { data } of arrays) {
    const { buffer, byteOffset, byteLength } = data;
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.digest("hex").slice(0, 16);
};

async function caseDigest(
  { f, shapes, range: [low, high] }: Case,
  type: "float32" | "float64",
): Promise<string> {
  const args = shapes.map((shape, i): diffeo.NdArray => {
    const drawn = normal(key(i), [...shape], { dtype: type });
    // Within the case's bounds.
    const data = drawn.data.map((z) => low + ((high - low) * (1 + z / (1 + Math.abs(z)))) / 2);
    return { ...drawn, data };
  });
  const traced = diffeo.trace((...x: diffeo.Tensor[]) => f(...x), args, type);
  const session = await wasmSession(traced);
  const feeds = args.map((a, i) => [traced.inputs[i].attributes.name as string, a] as const);
  return session ? digest(Object.values(await session.run(Object.fromEntries(feeds)))) : "";
}

/** All digests of this host. */
export async function digests(): Promise<Digests> {
  const out: Digests = {};
  for (const type of ["float32", "float64"] as const) {
    for (const one of cases(diffeo)) out[`${one.name} in ${type}`] = await caseDigest(one, type);
    const { score } = gaussian({ mean: [1, 2, 3], covariance: 0.3 });
    const { samples } = await sample(
      reverse(vp(), (x) => score(x)),
      { shape: [3], key: key(1), count: 9, steps: 20, type, device: "wasm" },
    );
    out[`a sampler in ${type}`] = digest([samples]);
  }
  for (const metric of ["diagonal", "dense"] as const) {
    const quartic = (x: diffeo.Tensor): diffeo.Tensor =>
      diffeo.mul(diffeo.sum(diffeo.square(diffeo.square(x)), -1), -0.5);
    const opened = openChains({ size: 5, logDensity: quartic }, 2, {
      ...{ metric, warmup: 30, draws: 20, device: "wasm" },
    });
    const start = normal(key(2), [2, 5], { dtype: "float64" }).data;
    const chains = await opened.draw(start, { key: key(3) });
    await opened.dispose();
    const points = chains.map(({ x }) => diffeo.ndarray([...x], "float64"));
    out[`chains with a ${metric} metric`] = digest(points);
  }
  return out;
}

if (process.argv.includes("--print")) {
  // Hosts that cannot be told to lack vectors have them refused.
  if (hasVectors()) WebAssembly.validate = () => false;
  process.stdout.write(JSON.stringify(await digests()));
}
