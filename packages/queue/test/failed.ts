/** Failed jobs as somebody with access to the server may write them. */
import { Redis } from "ioredis";
import type { Server } from "./server.ts";

/** Adds jobs to those that failed, by the fields of their hashes. */
export async function addFailed(
  server: Server,
  jobs: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<void> {
  const client = new Redis({ path: server.url.slice("unix://".length) });
  for (const [id, job] of Object.entries(jobs)) {
    await client.hset(`diffeo:jobs-cpu:${id}`, { opts: "{}", timestamp: "1", atm: "1", ...job });
    await client.zadd("diffeo:jobs-cpu:failed", 1, id);
  }
  await client.quit();
}
