/**
 * A command that has parts on a queue, as a process (`processes.ts`): command.js URL COUNT MS.
 * Prints the digest of all results in order.
 */
import { partOf, runParts } from "diffeo-queue";
import { inputsOf, openQueue, parseAddress, sha256 } from "diffeo-queue/node";
import { RELEASE, still } from "./kinds.ts";

const [url, count, ms] = process.argv.slice(2);
const executor = await openQueue({
  address: parseAddress(url),
  device: "cpu",
  inputs: inputsOf([]),
  say: () => undefined,
});
const parts = Array.from({ length: Number(count) }, (_, n) =>
  partOf(still, { ms: Number(ms), n }, { release: RELEASE, device: "cpu" }),
);
const results = await runParts(executor, parts);
await executor.close();
const bytes = results.map((settled) => {
  if ("error" in settled) throw settled.error;
  return settled.result.bytes;
});
process.stdout.write(sha256(Buffer.concat(bytes)));
