/** The command line as a person runs it: its output, its errors and its exit code. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { Readable } from "node:stream";
import { run } from "diffeo-cli";
import { built } from "../../../test/build.ts";

/**
 * A process runs the published build, because compiling the sources takes longer than most
 * commands.
 */
const words = (args: readonly string[]): string[] => [
  join(built(), "apps", "cli", "dist", "main.js"),
  ...args,
];

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/** The input of a command in addition to its arguments. */
export interface Given {
  readonly stdin?: string;
  readonly signal?: AbortSignal;
  /** Called with every piece that is written to stderr. */
  readonly onStderr?: (text: string) => void;
}

/** A command in this process. */
export async function diffeoWith(given: Given, ...args: readonly string[]): Promise<Ended> {
  let [stdout, stderr] = ["", ""];
  const code = await run(args, {
    stdout: {
      write: (text) => {
        stdout += typeof text === "string" ? text : Buffer.from(text).toString("latin1");
      },
    },
    stderr: {
      write: (text) => {
        stderr += text;
        given.onStderr?.(String(text));
      },
    },
    stdin: Readable.from(given.stdin === undefined ? [] : [Buffer.from(given.stdin)]),
    signal: given.signal ?? new AbortController().signal,
  });
  return { stdout, stderr, code };
}

export const diffeo = (...args: readonly string[]): Promise<Ended> => diffeoWith({}, ...args);

/** The output of a command. Throws with its error output if it fails. */
export async function printed(...args: readonly string[]): Promise<string> {
  const { stdout, stderr, code } = await diffeo(...args);
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
  return stdout;
}

/** A process of its own, to be watched and interrupted while it runs. */
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
  return {
    child,
    ended: new Promise((done) => child.on("close", (code) => done({ stdout, stderr, code }))),
  };
}

/** A process of its own under a line of bash, in which "$@" is the command. */
export function diffeoUnder(bash: string, ...args: readonly string[]): Ended {
  const { stdout, stderr, status } = spawnSync(
    "bash",
    ["-c", bash, "bash", process.execPath, ...words(args)],
    {
      encoding: "utf8",
    },
  );
  return { stdout, stderr, code: status };
}
