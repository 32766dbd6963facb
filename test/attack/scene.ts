/**
 * A scene of the attack on the queue: a command and two workers sample a posterior while the
 * server, the network line or one of them fails.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Redis, startServer } from "../../packages/queue/test/server.ts";
import { at, diffeo, faultOf, folder, note } from "./attack.ts";
import { type Line, lineTo } from "./line.ts";

const bin = fileURLToPath(new URL("../../apps/cli/bin/diffeo.js", import.meta.url));
/** Jobs of the command. */
export const JOBS = 8;

/** The command whose jobs go to the queue. */
export const words = (out: string): string[] => [
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

/** Writes the model, and runs the command without a queue: its draws are those of every scene. */
export async function makeReference(): Promise<void> {
  writeFileSync(
    at("y.mjs"),
    `import { normal } from "diffeo/distribution";\nimport { model } from "diffeo/mcmc";
export default model(({ parameter, observe }) => { const x = parameter("x", normal(0, 1)); observe("y", normal(x, 1)); });`,
  );
  writeFileSync(at("y.json"), '{"y": [1, 2, 0.5]}');
  const alone = await diffeo([...words("alone"), "--workers", "1"]);
  if (alone.code !== 0) throw new Error(alone.stderr);
  reference = drawsOf("alone");
}

export const worker = (url: string, ...more: string[]): ChildProcess =>
  spawn(
    process.execPath,
    [bin, "worker", "--queue", url, "--jobs", "1", "--lease", "2", "--cache", at("cache"), ...more],
    {
      cwd: folder,
      stdio: "ignore",
    },
  );

/** The parts of a scene: a server, a client of the attack, the failing line, two workers. */
export interface Scene {
  readonly server: Awaited<ReturnType<typeof startServer>>;
  readonly client: Redis;
  readonly line: Line;
  readonly workers: ChildProcess[];
}

interface SceneOptions {
  /** Whether the command may end with an error. Default true. */
  readonly mayRefuse?: boolean;
  /** Time limit of the command. Default 180. */
  readonly seconds?: number;
  /** A further check after the command has ended: the fault found. */
  readonly check?: () => string | undefined;
}

/**
 * A command and two workers on a server, the command and the first worker over a bad line, while
 * `happen` happens. The draws must be those of one process.
 */
export async function scene(
  name: string,
  happen: (all: Scene & { readonly command: ChildProcess }) => Promise<void>,
  { mayRefuse = true, seconds = 180, check = () => undefined }: SceneOptions = {},
): Promise<void> {
  if (!new RegExp(process.env.ONLY ?? "").test(name)) return;
  const server = await startServer();
  const path = server.url.slice("unix://".length);
  const line = await lineTo(path);
  const client = new Redis({ path, maxRetriesPerRequest: null });
  client.on("error", () => {});
  const workers = [worker(line.url), worker(server.url)];
  const out = "drawn";
  rmSync(at(out), { recursive: true, force: true });
  const outcome = await diffeo([...words(out), "--queue", line.url], {
    seconds,
    meanwhile: (command) => happen({ server, client, line, workers, command }).catch(() => {}),
  });
  const fault = faultOf(outcome);
  const other = outcome.code === 0 && drawsOf(out) !== reference ? "wrong: other draws" : undefined;
  const refused =
    outcome.code !== 0 && !mayRefuse ? `lost: ${outcome.stderr.slice(-200)}` : undefined;
  if (process.env.VERBOSE)
    console.log(
      `    ${name}: ${outcome.code} ${outcome.seconds.toFixed(1)} s ${outcome.stderr.trim().split("\n").at(-1)?.slice(0, 150)}`,
    );
  note("queue", name, fault ?? other ?? refused ?? check());
  for (const child of workers) child.kill("SIGCONT");
  for (const child of workers) child.kill("SIGKILL");
  client.disconnect();
  line.close();
  await server.stop();
}

/** Waits until some jobs are done. */
export const someDone = async (client: Redis, count = 2): Promise<void> => {
  while ((await client.keys("diffeo:result:*")).length < count) await pause(30);
};
