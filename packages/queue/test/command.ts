/**
 * A command that has jobs on a queue, as a process (`processes.ts`): command.js URL COUNT MS.
 * Prints the digest of all results in order.
 */
import { jobOf, runJobs } from "diffeo/job";
import { openQueue, parseAddress, sha256 } from "diffeo-queue";
import { RELEASE, still } from "./kinds.ts";

const [url, count, ms] = process.argv.slice(2);
const executor = await openQueue({
  address: parseAddress(url),
  device: "cpu",
  release: RELEASE,
  say: () => undefined,
});
const jobs = Array.from({ length: Number(count) }, (_, n) =>
  jobOf(still, { ms: Number(ms), n }, { inputs: {} }),
);
const results = await runJobs(executor, jobs);
await executor.close();
const bytes = results.map((settled) => {
  if ("error" in settled) throw settled.error;
  return settled.result.value;
});
process.stdout.write(sha256(Buffer.concat(bytes)));
