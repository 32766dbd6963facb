/** Reports of workers, every few seconds while they run: name, resources, and numbers of jobs. */
import type { Redis } from "ioredis";
import * as v from "valibot";
import { WORKERS, workerKey } from "./names.ts";

const schema = v.object({
  name: v.pipe(v.string(), v.maxLength(200)),
  host: v.pipe(v.string(), v.maxLength(200)),
  pid: v.number(),
  release: v.pipe(v.string(), v.maxLength(100)),
  device: v.pipe(v.string(), v.maxLength(100)),
  /** Jobs at a time, and threads per operation. */
  jobs: v.number(),
  threads: v.number(),
  /** Limits per job. */
  limits: v.object({ seconds: v.number(), bytes: v.number() }),
  /** Numbers of done, failed and active jobs. */
  done: v.number(),
  failed: v.number(),
  active: v.number(),
});

/** What a worker reports of itself: name, host, device, limits and counts of jobs. */
export type WorkerState = v.InferOutput<typeof schema>;

const EVERY_MS = 2000;
const SECONDS_REMEMBERED = 10;

/** Reports the state of a worker until it is ended. */
export function heartbeat(
  client: Redis,
  id: string,
  state: () => WorkerState,
): { readonly end: () => Promise<void> } {
  const say = async (): Promise<void> => {
    if (client.status !== "ready") return;
    await client.sadd(WORKERS, id);
    await client.set(workerKey(id), JSON.stringify(state()), "EX", SECONDS_REMEMBERED);
  };
  const announce = (): void => void say().catch(() => undefined); // the next report follows
  const timer = setInterval(announce, EVERY_MS);
  announce();
  return {
    end: async () => {
      clearInterval(timer);
      if (client.status === "ready") await client.del(workerKey(id)).catch(() => undefined);
    },
  };
}

/** The active workers. Workers without a recent report are forgotten. */
export async function listWorkers(client: Redis): Promise<WorkerState[]> {
  const ids = await client.smembers(WORKERS);
  const said = ids.length === 0 ? [] : await client.mget(ids.map(workerKey));
  const gone = ids.filter((_, i) => said[i] === null);
  if (gone.length > 0) await client.srem(WORKERS, ...gone);
  return said
    .flatMap((text) => {
      const found =
        text === null ? undefined : v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
      return found?.success ? [found.output] : [];
    })
    .sort((a, b) => a.name.localeCompare(b.name) || a.host.localeCompare(b.host) || a.pid - b.pid);
}

/** Number of jobs that all workers of a device run at a time. */
export const countWorkers = async (client: Redis, device: string): Promise<number> =>
  (await listWorkers(client)).reduce(
    (sum, worker) => sum + (worker.device === device ? worker.jobs : 0),
    0,
  );
