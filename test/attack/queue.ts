/**
 * The queue: a network that breaks in every way between command, worker and server, processes that
 * stand still, results, jobs and keys that are wrong, users with random rights. The draws of a
 * posterior must be those that one process makes, or the command must say why there are none.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Redis, startServer } from "../../packages/queue/test/server.ts";
import { at, diffeo, faultOf, folder, note } from "./attack.ts";

const area = "queue";
const bin = fileURLToPath(new URL("../../apps/cli/bin/diffeo.js", import.meta.url));
const JOBS = 8;

type Mode = "pass" | "hole" | "reset" | "cut" | "slow" | "corrupt";

interface Proxy {
  readonly url: string;
  mode: Mode;
  close(): void;
}

/** A line to a server that passes, holds, cuts, slows or changes what is sent. */
async function proxyTo(path: string): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const proxy = { url: "", mode: "pass" as Mode, close: () => {} };
  let count = 0;
  const pipe = (from: Socket, to: Socket): void => {
    from.on("data", (data: Buffer) => {
      const { mode } = proxy;
      if (mode === "hole") return;
      if (mode === "reset" && ++count % 20 === 0) return void from.destroy();
      if (mode === "cut" && ++count % 15 === 0) {
        to.write(data.subarray(0, data.length / 2));
        return void to.destroy();
      }
      if (mode === "corrupt" && ++count % 40 === 0) data[Math.floor(data.length / 2)] ^= 0x20;
      if (mode === "slow") setTimeout(() => to.write(data), 200);
      else to.write(data);
    });
    from.on("error", () => {});
    from.on("close", () => to.destroy());
  };
  const server: Server = createServer((client) => {
    const upstream = connect(path);
    sockets.add(client).add(upstream);
    pipe(client, upstream);
    pipe(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy.url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  proxy.close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return proxy;
}

const words = (out: string): string[] => [
  ...["infer", "y.mjs", "--data", "y.json", "--out", out, "--force", "--no-pictures"],
  ...["--chains", String(JOBS), "--block", "1", "--draws", "1500", "--warmup", "500"],
];

/** A digest of all draws of a run. */
const drawsOf = (out: string): string => {
  const all = createHash("sha256");
  for (const name of readdirSync(at(out))
    .filter((file) => file.startsWith("chain-"))
    .sort())
    all.update(readFileSync(at(`${out}/${name}`)));
  return all.digest("hex").slice(0, 16);
};

let reference = "";

const worker = (url: string, ...more: string[]): ChildProcess =>
  spawn(
    process.execPath,
    [bin, "worker", "--queue", url, "--jobs", "1", "--lease", "2", "--cache", at("cache"), ...more],
    {
      cwd: folder,
      stdio: "ignore",
    },
  );

interface Scene {
  readonly server: Awaited<ReturnType<typeof startServer>>;
  readonly client: Redis;
  readonly proxy: Proxy;
  readonly workers: ChildProcess[];
}

/** A command and two workers, the command and one of them by way of a bad line, while `happen` does. */
async function scene(
  name: string,
  happen: (all: Scene & { readonly command: ChildProcess }) => Promise<void>,
  {
    mayRefuse = true,
    seconds = 180,
  }: { readonly mayRefuse?: boolean; readonly seconds?: number } = {},
): Promise<void> {
  if (!new RegExp(process.env.ONLY ?? "").test(name)) return;
  const server = await startServer();
  const path = server.url.slice("unix://".length);
  const proxy = await proxyTo(path);
  const client = new Redis({ path, maxRetriesPerRequest: null });
  client.on("error", () => {});
  const workers = [worker(proxy.url), worker(server.url)];
  const out = "drawn";
  rmSync(at(out), { recursive: true, force: true });
  const outcome = await diffeo([...words(out), "--queue", proxy.url], {
    seconds,
    meanwhile: (command) => happen({ server, client, proxy, workers, command }).catch(() => {}),
  });
  const fault = faultOf(outcome);
  const other = outcome.code === 0 && drawsOf(out) !== reference ? "wrong: other draws" : undefined;
  const refused =
    outcome.code !== 0 && !mayRefuse ? `lost: ${outcome.stderr.slice(-200)}` : undefined;
  if (process.env.VERBOSE)
    console.log(
      `    ${name}: ${outcome.code} ${outcome.seconds.toFixed(1)} s ${outcome.stderr.trim().split("\n").at(-1)?.slice(0, 150)}`,
    );
  note(area, name, fault ?? other ?? refused);
  for (const child of workers) child.kill("SIGCONT");
  for (const child of workers) child.kill("SIGKILL");
  client.disconnect();
  proxy.close();
  await server.stop();
}

/** Until some jobs are done. */
const someDone = async (client: Redis, count = 2): Promise<void> => {
  while ((await client.keys("diffeo:result:*")).length < count) await pause(30);
};

const during =
  (mode: Mode, ms: number) =>
  async ({ client, proxy }: Scene): Promise<void> => {
    await someDone(client, 1);
    proxy.mode = mode;
    await pause(ms);
    proxy.mode = "pass";
  };

export async function queue(): Promise<void> {
  writeFileSync(
    at("y.mjs"),
    `import { normal } from "diffeo/distribution";\nimport { model } from "diffeo/mcmc";
export default model(({ parameter, observe }) => { const x = parameter("x", normal(0, 1)); observe("y", normal(x, 1)); });`,
  );
  writeFileSync(at("y.json"), '{"y": [1, 2, 0.5]}');
  const alone = await diffeo([...words("alone"), "--workers", "1"]);
  if (alone.code !== 0) throw new Error(alone.stderr);
  reference = drawsOf("alone");
  const must = { mayRefuse: false };
  await scene("nothing", async () => {}, must);
  for (const mode of ["hole", "reset", "cut", "slow"] as const)
    await scene(`a line that is a ${mode} for 5 s`, during(mode, 5000), { ...must, seconds: 150 });
  await scene("a line that changes bytes for 3 s", during("corrupt", 3000));
  await scene("a line that resets for ever", async ({ client, proxy }) => {
    await someDone(client, 1);
    proxy.mode = "reset";
  });
  for (const who of ["worker", "server", "command"] as const)
    for (const ms of [1000, 5000])
      await scene(
        `a ${who} that stands still for ${ms / 1000} s`,
        async ({ client, server, workers, command }) => {
          await someDone(client, 1);
          const pid =
            who === "worker" ? workers[1].pid : who === "server" ? server.pid() : command.pid;
          process.kill(pid as number, "SIGSTOP");
          await pause(ms);
          process.kill(pid as number, "SIGCONT");
        },
        must,
      );
  await scene(
    "kills of a worker, five times",
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
    "a server that is killed and comes back, three times",
    async ({ client, server }) => {
      for (let i = 0; i < 3; i++) {
        await someDone(client, i + 1);
        await server.restart();
      }
    },
    must,
  );
  await scene(
    "FLUSHALL at work",
    async ({ client }) => {
      await someDone(client);
      await client.flushall();
    },
    must,
  );
  // Results that are wrong, put in place of those that are there.
  const forge =
    (change: (client: Redis, key: string) => Promise<unknown>) =>
    async ({ client }: Scene): Promise<void> => {
      const done = new Set<string>();
      for (let i = 0; i < 200 && done.size < 3; i++) {
        for (const key of await client.keys("diffeo:result:*"))
          if (!done.has(key)) {
            await change(client, key);
            done.add(key);
          }
        await pause(10);
      }
    };
  const forged: Readonly<Record<string, (client: Redis, key: string) => Promise<unknown>>> = {
    "no JSON": (client, key) => client.set(key, "{"),
    "a list for a text": async (client, key) => [
      await client.del(key),
      await client.lpush(key, "x"),
    ],
    "another digest": (client, key) =>
      client.set(key, JSON.stringify({ sha256: "0".repeat(64), seconds: 1, worker: "w" })),
    "a long worker's name": (client, key) =>
      client.set(
        key,
        JSON.stringify({ sha256: "0".repeat(64), seconds: 1, worker: "w".repeat(1e6) }),
      ),
    "a size of 2^52": async (client, key) => {
      const { sha256 } = JSON.parse((await client.get(key)) ?? "{}");
      return client.set(
        `diffeo:bytes:${sha256}`,
        JSON.stringify({ bytes: 2 ** 52, chunks: 2 ** 52 }),
      );
    },
    "other bytes": async (client, key) => {
      const { sha256 } = JSON.parse((await client.get(key)) ?? "{}");
      return client.set(`diffeo:bytes:${sha256}:0`, "rubbish");
    },
    "chains of another job": async (client, key) => {
      const others = (await client.keys("diffeo:result:*")).filter((other) => other !== key);
      const text = others[0] && (await client.get(others[0]));
      return text ? client.set(key, text) : undefined;
    },
    "another's own bytes": async (client, key) => {
      const bytes = Buffer.from('{"chains":[]}');
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      await client.set(`diffeo:bytes:${sha256}:0`, bytes);
      await client.set(
        `diffeo:bytes:${sha256}`,
        JSON.stringify({ bytes: bytes.length, chunks: 1 }),
      );
      return client.set(key, JSON.stringify({ sha256, seconds: 1, worker: "w" }));
    },
  };
  for (const [name, change] of Object.entries(forged))
    await scene(`a result that is ${name}`, forge(change));
  // Jobs of strangers beside the command's.
  const job =
    (data: string) =>
    async ({ client }: Scene): Promise<void> => {
      for (let i = 0; i < 20; i++) {
        await client.hset(`diffeo:jobs-cpu:evil${i}`, {
          name: `\u001b[2J${i}`,
          data,
          opts: "{}",
          timestamp: "1",
          delay: "0",
          priority: "0",
        });
        await client.lpush("diffeo:jobs-cpu:wait", `evil${i}`);
      }
    };
  const strange: Readonly<Record<string, string>> = {
    "no JSON": "{",
    "of 20 MB": JSON.stringify("x".repeat(20_000_000)),
    deep: "[".repeat(50_000) + "]".repeat(50_000),
    "of another version": JSON.stringify({
      kind: "mcmc/chains",
      version: 99,
      release: "9",
      device: "cpu",
      parameters: {},
      inputs: {},
    }),
    "of another kind": JSON.stringify({
      kind: "../../etc/passwd",
      version: 1,
      release: "0.1.0",
      device: "cpu",
      parameters: {},
      inputs: { a: "../../x" },
    }),
    "of a prototype":
      '{"kind":"__proto__","version":1,"release":"0.1.0","device":"cpu","parameters":{"__proto__":1},"inputs":{}}',
  };
  for (const [name, text] of Object.entries(strange))
    await scene(`20 jobs ${name}`, job(text), must);
  const { ONLY } = process.env;
  if (ONLY === undefined || /servers/.test(ONLY)) await servers();
  if (ONLY === undefined || /servers|rights/.test(ONLY)) await rights();
}

/** Servers that are not Redis. */
async function servers(): Promise<void> {
  const talk: Readonly<Record<string, (socket: Socket) => void>> = {
    "says nothing": () => {},
    "speaks HTTP": (socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"),
    "sends rubbish": (socket) => socket.write(Buffer.alloc(100_000, 0xff)),
    "closes at once": (socket) => socket.destroy(),
    "claims a text of 2^40 bytes": (socket) =>
      socket.on("data", () => socket.write("$1099511627776\r\nx")),
    "nests without an end": (socket) =>
      socket.on("data", () => socket.write("*1\r\n".repeat(20_000))),
    "is an old Redis": (socket) =>
      socket.on("data", () => socket.write("-ERR unknown command\r\n".repeat(3))),
  };
  for (const [name, answer] of Object.entries(talk)) {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      answer(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const command of [
      [...words("none"), "--queue", url],
      ["queue", "--queue", url],
      ["worker", "--once", "--queue", url],
    ]) {
      const outcome = await diffeo(command, {
        seconds: 25,
        // Ten seconds are the limit for a server that does not answer; the rest is for a loaded machine.
        meanwhile: (child) => void setTimeout(() => child.kill("SIGINT"), 16_000),
      });
      if (process.env.VERBOSE)
        console.log(
          `    ${command[0]}, a server that ${name}: ${outcome.code} ${outcome.seconds.toFixed(1)} s ${outcome.stderr.trim().split("\n").at(-1)?.slice(0, 150)}`,
        );
      const silent =
        outcome.code !== 0 && outcome.stderr.trim() === "" ? "wrong: not a word" : undefined;
      note(area, `${command[0]}, a server that ${name}`, faultOf(outcome) ?? silent);
    }
    server.close();
  }
}

/** Users who may do a random part of what is needed. */
async function rights(): Promise<void> {
  const server = await startServer();
  const path = server.url.slice("unix://".length);
  const client = new Redis({ path });
  const proxy = await proxyTo(path);
  const classes = ["@read", "@write", "@list", "@hash", "@string", "@sortedset", "@stream", "@scripting", "@blocking", "@connection", "@keyspace"]; // biome-ignore format: a list
  for (let i = 0; i < 10; i++) {
    const given = classes.filter((_, j) => (i * 7 + j * 5) % 11 < 8);
    await client.call(
      "ACL",
      "SETUSER",
      `u${i}`,
      "reset",
      "on",
      ">pw",
      i % 2 ? "~diffeo:*" : "~*",
      "&*",
      ...given.map((name) => `+${name}`),
    );
    const url = proxy.url.replace("redis://", `redis://u${i}:pw@`);
    for (const command of [
      [...words("none"), "--queue", url],
      ["worker", "--once", "--queue", url],
    ]) {
      await client.flushall(); // no user is served by the results of another
      const outcome = await diffeo(command, {
        seconds: 30,
        meanwhile: (child) => void setTimeout(() => child.kill("SIGINT"), 15_000),
      });
      const leak = /pw@/.test(outcome.stderr) ? "wrong: it shows the password" : undefined;
      if (process.env.VERBOSE)
        console.log(
          `    ${command[0]}, rights ${i}: ${outcome.code} ${outcome.seconds.toFixed(1)} s ${outcome.stderr.trim().split("\n").at(-1)?.slice(0, 150)}`,
        );
      note("queue, rights", `${command[0]} with ${given}`, faultOf(outcome) ?? leak);
    }
  }
  client.disconnect();
  proxy.close();
  await server.stop();
}
