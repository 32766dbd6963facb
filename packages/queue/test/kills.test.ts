/**
 * Workers, the command and the server killed while they work: nothing is lost and nothing is there
 * twice.
 */
import { expect, it } from "vitest";
import { survive } from "./kills.ts";
import { hasServer } from "./server.ts";

it.runIf(hasServer)("loses nothing if workers, the command and the server are killed", async () => {
  const plan = { workerKills: 3, commandKills: 1, restarts: 1 };
  const found = await survive({
    ...{ ...plan, workers: 2, jobs: 90, ms: 60, pauseMs: 700, leaseSeconds: 1, seed: 3 },
  });
  expect(found).toMatchObject({
    ...plan,
    same: true,
    results: 90,
    waiting: 0,
    active: 0,
    failed: 0,
  });
});

it.runIf(!hasServer)("is skipped: redis-server is not installed", () =>
  expect(hasServer).toBe(false),
);
