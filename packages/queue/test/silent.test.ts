/**
 * Servers that are not Redis: silent ones, and those that close, lie or send what cannot be read.
 * The first connection to them fails with one sentence, in time, and nothing keeps the process alive.
 */
import { spawn } from "node:child_process";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { openQueue, parseAddress, serveQueue } from "diffeo-queue";
import { afterEach, expect, it } from "vitest";
import { connect } from "../src/node/redis/connection.ts";
import { RELEASE } from "./kinds.ts";
import { scripts } from "./processes.ts";

const servers: Server[] = [];
afterEach(async () => {
  // A connection that is still open would hold this.
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

/** The URL of a server that treats its connections as `talk` does. */
async function serve(talk: Talk): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined).resume();
    talk(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Talk = (socket: Socket) => void;
const silent: Talk = () => {};
const claims: Talk = (socket) => {
  socket.on("data", () => socket.write("$1099511627776\r\nx"));
};
const nests: Talk = (socket) => {
  socket.on("data", () => socket.write("*1\r\n".repeat(20_000)));
};
const closes: Talk = (socket) => {
  socket.destroy();
};
const speaksHttp: Talk = (socket) => {
  socket.write("HTTP/1.1 400 No\r\n\r\n");
};

it.each([
  ["is silent", silent, "no usable answer within 0.3 s"],
  ["claims a text of 2^40 bytes", claims, "no usable answer within 0.3 s"],
  ["nests endlessly", nests, "its reply cannot be parsed"],
  ["closes at once", closes, "it closes the connection"],
  ["speaks HTTP", speaksHttp, "its reply cannot be parsed"],
] as const)("a server that %s is reported in time", async (_, talk, problem) => {
  const address = parseAddress(await serve(talk));
  const began = performance.now();
  await expect(connect(address, () => undefined, { firstMs: 300 })).rejects.toThrow(
    `cannot use ${address.shown} (${problem}`,
  );
  expect(performance.now() - began).toBeLessThan(1500);
});

it("stopped commands and workers do not wait for a silent server", async () => {
  const address = parseAddress(await serve(silent));
  const stop = new AbortController();
  const common = { address, device: "cpu", release: RELEASE, say: () => undefined };
  const both = Promise.allSettled([
    openQueue({ ...common, signal: stop.signal }),
    serveQueue({
      ...common,
      ...{ name: "one", jobs: 1, threads: 1, script: { url: scripts.process, execArgv: [] } },
      limits: { seconds: 1, bytes: 1e6 },
      cache: { folder: "unused", bytes: 1e6 },
      signal: stop.signal,
    }),
  ]);
  await pause(100);
  const began = performance.now();
  stop.abort();
  for (const outcome of await both)
    expect(outcome).toEqual({ status: "rejected", reason: stop.signal.reason });
  expect(performance.now() - began).toBeLessThan(200);
});

it.each([
  ["closes", closes],
  ["speaks another protocol", speaksHttp],
] as const)("nothing keeps a process alive after a server that %s", async (_, talk) => {
  const url = await serve(talk);
  const child = spawn(process.execPath, [scripts.look.pathname, url]);
  let [said, saidAt] = ["", 0];
  child.stderr.on("data", (data) => {
    said += data;
    saidAt = performance.now();
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect([code, /cannot use/.test(said)]).toEqual([1, true]);
  expect(performance.now() - saidAt).toBeLessThan(1000);
});

it("the timeout for an answer ends with its connection, not with the next", async () => {
  let connections = 0;
  const url = await serve((socket) => {
    const first = ++connections === 1;
    socket.on("data", (data) => {
      const text = String(data);
      if (first && /get/.test(text)) setTimeout(() => socket.destroy(), 100);
      else socket.write("+OK\r\n".repeat(text.match(/^\*\d/gm)?.length ?? 0));
    });
  });
  const said: string[] = [];
  const { client, close } = await connect(parseAddress(url), (line) => said.push(line), {
    answerMs: 400,
  });
  expect(await client.get("a")).toBe("OK");
  await pause(500);
  expect(said).toEqual([expect.stringMatching(/is lost/), expect.stringMatching(/is restored/)]);
  await close();
});
