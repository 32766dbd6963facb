/** The command line as a person runs it: its output, its errors and its exit code. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const words = (args: readonly string[]): string[] => ["--conditions=diffeo-source", "--import", "tsx", main, ...args];

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export function diffeo(...args: readonly string[]): Ended {
  const { stdout, stderr, status } = spawnSync(process.execPath, words(args), { encoding: "utf8" });
  return { stdout, stderr, code: status };
}

/** The same, to be watched and interrupted while it runs. */
export function startDiffeo(...args: readonly string[]): {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
} {
  const child = spawn(process.execPath, words(args));
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (data) => {
    stdout += data;
  });
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  return { child, ended: new Promise((done) => child.on("close", (code) => done({ stdout, stderr, code }))) };
}

/** The same where no file may grow beyond some KiB, as on a disk that is full. */
export function diffeoWithin(kib: number, ...args: readonly string[]): Ended {
  const limited = ["-c", `ulimit -f ${kib}; exec "$0" "$@"`, process.execPath, ...words(args)];
  const { stdout, stderr, status } = spawnSync("bash", limited, { encoding: "utf8" });
  return { stdout, stderr, code: status };
}
