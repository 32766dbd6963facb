/** A redis-server of a test's own, on a socket in a folder of its own, with an append-only file. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** For attacks on a queue, which are outside of this package. */
export { Redis } from "ioredis";

export const hasServer: boolean = spawnSync("redis-server", ["--version"]).status === 0;

export interface Server {
  readonly folder: string;
  /** unix://… */
  readonly url: string;
  readonly pid: () => number;
  /** Ends the server at once and starts it again from its append-only file. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path, () => socket.write("PING\r\n"));
    socket.on("data", (data) => {
      socket.destroy();
      resolve(!data.toString().startsWith("-LOADING"));
    });
    socket.on("error", () => resolve(false));
  });

/** @param flags more of redis-server's own */
export async function startServer(...flags: readonly string[]): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "diffeo-redis-"));
  const path = join(folder, "s");
  const words = [
    "--port",
    "0",
    "--unixsocket",
    path,
    "--dir",
    folder,
    "--save",
    "",
    "--appendonly",
    "yes",
    ...flags,
  ];
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn("redis-server", words, { stdio: "ignore" });
    while (!(await answers(path))) await wait(20);
  };
  const end = async (): Promise<void> => {
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    child?.kill("SIGKILL");
    await ended;
  };
  await start();
  return {
    folder,
    url: `unix://${path}`,
    pid: () => child?.pid as number,
    restart: async () => {
      await end();
      await start();
    },
    stop: async () => {
      await end();
      rmSync(folder, { recursive: true });
    },
  };
}
