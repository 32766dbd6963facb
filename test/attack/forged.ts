/**
 * Forged results: somebody with access to the server replaces results of the command's jobs. The
 * command is stopped until three results are there and forged; the server's log of commands
 * (MONITOR) then shows that the command read each forged result before a true one, and took it
 * away.
 */
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Redis } from "../../packages/queue/test/server.ts";
import { JOBS, scene, someDone } from "./scene.ts";

const FORGED = 3;
const sha256 = (bytes: string): string => createHash("sha256").update(bytes).digest("hex");

/** Replaces results by name of their keys, of which `texts` are the values. */
type Forge = (client: Redis, texts: ReadonlyMap<string, string>) => Promise<unknown>;

/** Replaces each result on its own. */
const each =
  (forge: (client: Redis, key: string, sha256: string) => Promise<unknown>): Forge =>
  async (client, texts) => {
    for (const [key, text] of texts) await forge(client, key, JSON.parse(text).sha256);
  };

/** A result under a key, as a worker writes it. */
const pointer = (key: string, sha256: string, worker = "w"): string =>
  JSON.stringify({ job: key.slice("diffeo:result:".length), sha256, seconds: 1, worker });

const OWN = '{"chains":[]}';

const forgeriesByName: Readonly<Record<string, Forge>> = {
  "no JSON": each((client, key) => client.set(key, "{")),
  "a list instead of a text": each(async (client, key) => {
    await client.del(key);
    await client.lpush(key, "x");
  }),
  "a digest without bytes": each((client, key) => client.set(key, pointer(key, "0".repeat(64)))),
  "a worker with a name of 1 MB": each((client, key) =>
    client.set(key, pointer(key, "0".repeat(64), "w".repeat(1e6))),
  ),
  "a size of 2^52 bytes": each((client, _, sha256) =>
    client.set(`diffeo:bytes:${sha256}`, JSON.stringify({ bytes: 2 ** 52, chunks: 2 ** 52 })),
  ),
  "other bytes under the same digest": each((client, _, sha256) =>
    client.set(`diffeo:bytes:${sha256}:0`, "rubbish"),
  ),
  "chains of another job": async (client, texts) => {
    const keys = [...texts.keys()];
    for (const [i, key] of keys.entries())
      await client.set(key, texts.get(keys[(i + 1) % keys.length]) as string);
  },
  "no chains": each(async (client, key) => {
    const digest = sha256(OWN);
    await client.set(`diffeo:bytes:${digest}:0`, OWN);
    await client.set(`diffeo:bytes:${digest}`, JSON.stringify({ bytes: OWN.length, chunks: 1 }));
    await client.set(key, pointer(key, digest));
  }),
};

/** Waits until all jobs of the command are on the queue, or done. */
async function allThere(client: Redis): Promise<void> {
  const isJob = (key: string): boolean => /^diffeo:jobs-cpu:[0-9a-f]{64}$/.test(key);
  for (;;) {
    const keys = await client.keys("diffeo:*");
    const results = keys.filter((key) => key.startsWith("diffeo:result:"));
    if (keys.filter(isJob).length + results.length >= JOBS) return;
    await pause(2);
  }
}

/** The fault in the order of the server's commands for a forged result; undefined if none. */
function misorder(log: readonly string[], key: string): string | undefined {
  const forged = log.indexOf(`echo ${key}`);
  const read = log.indexOf(`get ${key}`);
  if (read < 0) return "wrong: the command did not read a forged result";
  if (read < forged) return "wrong: the command read a result before it was forged";
  return log.indexOf(`del ${key}`, read) < 0 ? "wrong: a forged result stayed" : undefined;
}

/** One scene per forgery. */
export async function forgeries(): Promise<void> {
  for (const [name, forge] of Object.entries(forgeriesByName)) {
    const log: string[] = [];
    const forged = new Set<string>();
    await scene(
      `results that are ${name}`,
      async ({ client, command }) => {
        const monitor = await client.monitor();
        client.once("end", () => monitor.disconnect());
        monitor.on("error", () => {});
        monitor.on("monitor", (_, [word, key]: string[]) =>
          log.push(`${word} ${key}`.toLowerCase()),
        );
        await allThere(client);
        command.kill("SIGSTOP");
        try {
          await someDone(client, FORGED);
          const keys = (await client.keys("diffeo:result:*"))
            .filter((key) => !log.includes(`get ${key}`))
            .slice(0, FORGED);
          const texts = new Map<string, string>();
          // GETRANGE, so that GET in the log is the command's alone.
          for (const key of keys) texts.set(key, await client.getrange(key, 0, -1));
          await forge(client, texts);
          for (const key of keys) {
            await client.echo(key);
            forged.add(key);
          }
        } finally {
          command.kill("SIGCONT");
        }
      },
      {
        check: () =>
          forged.size < FORGED
            ? `wrong: ${forged.size} results were forged`
            : [...forged].map((key) => misorder(log, key)).find(Boolean),
      },
    );
  }
}
