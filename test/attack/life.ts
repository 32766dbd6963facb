/** Leaks: thousands of rounds of opening and closing, with memory and open files. */
import { readdirSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { freshModel, openGrids, parseModel, serializeModel, standardise } from "diffeo/categorical";
import { normal } from "diffeo/distribution";
import { compile } from "diffeo/engine";
import { add, mul, type Tensor } from "diffeo/graph";
import { model, samplePosterior } from "diffeo/mcmc";
import { key } from "diffeo/random";
import { jsonLines, parseCells } from "diffeo-tables";
import { parquetBytes } from "diffeo-tables/node";
import { serveFolder } from "../../apps/cli/src/studio/server.ts";
import { openParquetReader } from "../../packages/tables/src/node/parquet-reader.ts";
import { at, folder, note } from "./attack.ts";

const files = (): number => readdirSync("/proc/self/fd").length;
/** Megabytes of the process, after a collection. */
function memory(): number {
  for (let i = 0; i < 4; i++) globalThis.gc?.();
  return process.memoryUsage.rss() / 2 ** 20;
}
const heap = (): number => process.memoryUsage().heapUsed / 2 ** 20;

/** Runs the rounds, and reports the growth from a tenth of them to all. */
async function rounds(
  name: string,
  count: number,
  round: (i: number) => Promise<unknown>,
): Promise<void> {
  const first = Math.ceil(count / 10);
  const began = performance.now();
  for (let i = 0; i < first; i++) await round(i);
  const [m, h, f] = [memory(), heap(), files()];
  for (let i = first; i < count; i++) await round(i);
  const [m2, h2, f2] = [memory(), heap(), files()];
  console.log(
    `  ${name}: ${count} rounds in ${((performance.now() - began) / 1000).toFixed(0)} s, memory ${m.toFixed(0)} → ${m2.toFixed(0)} MB, ` +
      `heap ${h.toFixed(1)} → ${h2.toFixed(1)} MB, open files ${f} → ${f2}`,
  );
  const fault =
    f2 > f + 2
      ? "wrong: open files grow"
      : h2 > 1.5 * h + 5 || m2 > 1.5 * m
        ? "wrong: memory grows"
        : undefined;
  for (let i = 1; i < count; i++) note("long life", name, undefined, false);
  note("long life", name, fault, false);
}

/** Without fetch, which retains memory for every server it has contacted. */
const ask = (url: string): Promise<void> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => answer.resume().once("end", resolve)).on(
      "error",
      reject,
    );
  });

export async function life(): Promise<void> {
  if (!globalThis.gc)
    console.log("  (run with NODE_OPTIONS=--expose-gc, so that memory can be compared)");
  await rounds("graphs on the compiler", 4000, async (i) => {
    const f = compile((x: Tensor) => add(mul(x, i), 1), [[3]], { device: "wasm" });
    await f([1, 2, 3]);
    await f.dispose();
  });
  await rounds("graphs on ONNX Runtime", 1500, async (i) => {
    const f = compile((x: Tensor) => add(mul(x, i), 1), [[3]], { device: "onnxruntime" });
    await f([1, 2, 3]);
    await f.dispose();
  });
  const spec = {
    parameterisation: "posterior",
    encoding: standardise([0.5, 0.5], { grid: [4] }),
    network: {
      kind: "transformer",
      width: 8,
      layers: 1,
      heads: 2,
      channels: 1,
      outputs: 2,
      grid: [4],
    },
  } as const;
  const bytes = new Uint8Array(Buffer.concat(serializeModel(freshModel(spec, key(1)))));
  await rounds("models, read and sampled", 300, async (i) => {
    const draw = await openGrids(parseModel(bytes), { threads: 1 });
    await draw({ count: 2, key: key(i), steps: 3 });
    await draw.dispose();
  });
  const simple = model(({ parameter, observe }) => {
    const x = parameter("x", normal(0, 1));
    observe("y", normal(x, 1));
  });
  await rounds("posteriors", 400, (i) =>
    samplePosterior(simple, {
      data: { y: [1, 2, i] },
      key: key(i),
      chains: 2,
      draws: 20,
      warmup: 20,
    }),
  );
  const table = await parquetBytes(
    ["a", "b"],
    [
      [1, "x"],
      [2, "y"],
    ],
  );
  const reader = openParquetReader();
  await rounds("Parquet files, every third damaged", 3000, async (i) => {
    const own = Uint8Array.from(table);
    if (i % 3 === 0) own.fill(255, 10, 14);
    await reader.read(own, "f").catch(() => undefined);
  });
  await reader.close();
  await rounds("threads that read Parquet", 200, async () => {
    const own = openParquetReader();
    await own.read(table, "f");
    await own.close();
  });
  const text = jsonLines(
    ["a", "b"],
    Array.from({ length: 50 }, (_, i) => [i, "x"]),
  );
  await rounds("JSON lines", 5000, async () => parseCells(text, "f"));
  writeFileSync(at("index.html"), "<p>");
  await rounds("servers", 1000, async () => {
    const server = await serveFolder(folder, 0);
    await ask(server.url);
    await server.close();
  });
}
