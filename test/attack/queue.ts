/**
 * The queue: network failures between command, worker and server, processes that are stopped or
 * killed, forged results, foreign jobs, servers that are not Redis, and users with a part of the
 * rights. The draws of a posterior must be those of one process, or the command must say why there
 * are none. `ONLY=PATTERN` runs the scenes whose names match.
 */
import { setTimeout as pause } from "node:timers/promises";
import { forgeries } from "./forged.ts";
import type { Mode } from "./line.ts";
import { makeReference, type Scene, scene, someDone, worker } from "./scene.ts";
import { rights, servers } from "./servers.ts";

const must = { mayRefuse: false };

/** Waits for the first result, then sets the mode of the line for some milliseconds. */
const during =
  (mode: Mode, ms: number) =>
  async ({ client, line }: Scene): Promise<void> => {
    await someDone(client, 1);
    line.mode = mode;
    await pause(ms);
    line.mode = "pass";
  };

/** Network lines that fail. */
async function lines(): Promise<void> {
  const modes = {
    "swallows bytes": "swallow",
    "is reset again and again": "reset",
    "is cut inside of messages": "cut",
    "is slow": "slow",
  } as const;
  for (const [name, mode] of Object.entries(modes))
    await scene(`a line that ${name} for 5 s`, during(mode, 5000), { ...must, seconds: 150 });
  await scene("a line that changes bytes for 3 s", during("corrupt", 3000));
  await scene("a line that is reset without end", async ({ client, line }) => {
    await someDone(client, 1);
    line.mode = "reset";
  });
}

/** Processes that are stopped for a while. */
async function stops(): Promise<void> {
  for (const who of ["worker", "server", "command"] as const)
    for (const ms of [1000, 5000])
      await scene(
        `a ${who} that is stopped for ${ms / 1000} s`,
        async ({ client, server, workers, command }) => {
          await someDone(client, 1);
          const pids = { worker: workers[1].pid, server: server.pid(), command: command.pid };
          process.kill(pids[who] as number, "SIGSTOP");
          await pause(ms);
          process.kill(pids[who] as number, "SIGCONT");
        },
        must,
      );
}

/** Workers and servers that are killed, and a server that is emptied. */
async function kills(): Promise<void> {
  await scene(
    "a worker that is killed and replaced, five times",
    async ({ client, workers, server }) => {
      for (let i = 0; i < 5; i++) {
        await someDone(client, i + 1);
        workers[1].kill("SIGKILL");
        workers[1] = worker(server.url);
      }
    },
    must,
  );
  await scene(
    "a server that is killed and restarted, three times",
    async ({ client, server }) => {
      for (let i = 0; i < 3; i++) {
        await someDone(client, i + 1);
        await server.restart();
      }
    },
    must,
  );
  await scene(
    "FLUSHALL during the work",
    async ({ client }) => {
      await someDone(client);
      await client.flushall();
    },
    must,
  );
}

const stranger = { version: 1, release: "0.1.0", device: "cpu", parameters: {}, inputs: {} };

/** The contents of foreign jobs. */
const strange: Readonly<Record<string, string>> = {
  "that are not JSON": "{",
  "of 20 MB": JSON.stringify("x".repeat(20_000_000)),
  "that are nested 50,000 deep": "[".repeat(50_000) + "]".repeat(50_000),
  "of another version": JSON.stringify({
    ...{ ...stranger, kind: "mcmc/chains", version: 99, release: "9" },
  }),
  "of an unknown kind": JSON.stringify({
    ...{ ...stranger, kind: "../../etc/passwd", inputs: { a: "../../x" } },
  }),
  "named like a prototype":
    '{"kind":"__proto__","version":1,"release":"0.1.0","device":"cpu","parameters":{"__proto__":1},"inputs":{}}',
};

/** Puts 20 foreign jobs on the command's queue. */
const strangeJobs =
  (data: string) =>
  async ({ client }: Scene): Promise<void> => {
    for (let i = 0; i < 20; i++) {
      const name = `\u001b[2J${i}`;
      const entry = { name, data, opts: "{}", timestamp: "1", delay: "0", priority: "0" };
      await client.hset(`diffeo:jobs-cpu:evil${i}`, entry);
      await client.lpush("diffeo:jobs-cpu:wait", `evil${i}`);
    }
  };

export async function queue(): Promise<void> {
  await makeReference();
  await scene("nothing", async () => {}, must);
  await lines();
  await stops();
  await kills();
  await forgeries();
  for (const [name, text] of Object.entries(strange))
    await scene(`20 jobs ${name}`, strangeJobs(text), must);
  const { ONLY } = process.env;
  if (ONLY === undefined || /servers/.test(ONLY)) await servers();
  if (ONLY === undefined || /servers|rights/.test(ONLY)) await rights();
}
