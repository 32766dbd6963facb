/**
 * A worker of the tests' kinds as a process (`processes.ts`): worker.js URL NAME LEASE-SECONDS
 * FOLDER [once]
 */
import { join } from "node:path";
import { parseAddress, serveQueue } from "diffeo-queue";
import { RELEASE } from "./kinds.ts";

const [url, name, lease, folder, once] = process.argv.slice(2);
const controller = new AbortController();
process.once("SIGTERM", () => controller.abort());
await serveQueue({
  address: parseAddress(url),
  name,
  release: RELEASE,
  device: "cpu",
  jobs: 1,
  threads: 1,
  script: { url: new URL("./process.js", import.meta.url) },
  limits: { seconds: 60, bytes: 1e9 },
  cache: { folder: join(folder, "cache"), bytes: 1e6 },
  leaseSeconds: Number(lease),
  once: once === "once",
  signal: controller.signal,
  say: (line) => process.stderr.write(`${name}: ${line}\n`),
});
