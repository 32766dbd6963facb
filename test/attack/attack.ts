/**
 * One attack: runs a command of the built `diffeo` on a hostile input in a separate process. The
 * command may succeed, or refuse with a one-sentence message and exit code 1, 2 or 3. Anything else
 * is a fault: a stack trace, a signal, another exit code, or a command that does not finish.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../apps/cli/bin/diffeo.js", import.meta.url));

/** The folder of hostile files. */
export const folder = mkdtempSync(join(tmpdir(), "diffeo-attack-"));
export const at = (name: string): string => join(folder, name);

/** All time limits are multiplied by it: PATIENCE=4 on a machine that is busy with other work. */
export const patience = Number(process.env.PATIENCE ?? 1);

export interface Outcome {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
  readonly late: boolean;
}

export interface How {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Time limit of the command, multiplied by `patience`. Default 60. */
  readonly seconds?: number;
  /** Called when the process has started. */
  readonly meanwhile?: (child: ChildProcess) => void | Promise<void>;
  /** Flags of Node. */
  readonly flags?: readonly string[];
}

/** Runs a command to its end. */
export function diffeo(words: readonly string[], how: How = {}): Promise<Outcome> {
  const { input, env, seconds = 60, meanwhile, flags = [] } = how;
  const began = performance.now();
  const child = spawn(process.execPath, [...flags, bin, ...words], {
    cwd: folder,
    env: { ...process.env, ...env },
  });
  let [stdout, stderr, late] = ["", "", false];
  child.stdout.on("data", (data) => {
    stdout += data;
  });
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  void meanwhile?.(child);
  const timer = setTimeout(
    () => {
      late = true;
      child.kill("SIGKILL");
    },
    seconds * patience * 1000,
  );
  return new Promise((resolve) => {
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout, stderr, late, seconds: (performance.now() - began) / 1000 });
    });
  });
}

interface Counts {
  tried: number;
  injected: number;
  lost: number;
  wrong: number;
  crashed: number;
}

/** Counts by area, in order of first use. */
export const counts = new Map<string, Counts>();

function countOf(area: string): Counts {
  const own = counts.get(area) ?? { tried: 0, injected: 0, lost: 0, wrong: 0, crashed: 0 };
  counts.set(area, own);
  return own;
}

/** Why an outcome is a fault; undefined if it is not. */
export function faultOf(
  { code, signal, stderr, late, seconds }: Outcome,
  stack = false,
): string | undefined {
  if (late) return `wrong: no end after ${seconds.toFixed(0)} s`;
  if (signal !== null && signal !== "SIGINT") return `crashed: ${signal}`;
  if (!stack && /^\s+at .*[:(]\d+/m.test(stderr)) return "crashed: a stack";
  // After Ctrl-C, which only these scripts send, a command ends by this signal, as shells expect.
  if (signal === "SIGINT") return undefined;
  if (code === null || ![0, 1, 2, 3, 130].includes(code)) return `crashed: exit code ${code}`;
  if (code !== 0 && !/\S/.test(stderr)) return "wrong: an error without a word";
  return undefined;
}

/** Records an attempt and its result. A `fault` begins with lost, wrong or crashed. */
export function note(area: string, name: string, fault: string | undefined, isFault = true): void {
  const own = countOf(area);
  own.tried++;
  if (isFault) own.injected++;
  if (fault === undefined) return;
  const kind = /^(lost|wrong|crashed)/.exec(fault)?.[0] as "lost" | "wrong" | "crashed";
  own[kind]++;
  console.log(`  ${area}: ${name}: ${fault}`);
}

/** Runs a command on a hostile input and counts it; `check` says what is wrong with an outcome. */
export async function attack(
  area: string,
  name: string,
  words: readonly string[],
  how: How & {
    readonly stack?: boolean;
    readonly check?: (outcome: Outcome) => string | undefined;
  } = {},
): Promise<Outcome> {
  const outcome = await diffeo(words, how);
  const said = outcome.stderr.trim().split("\n").at(-1)?.slice(0, 160);
  if (process.env.VERBOSE)
    console.log(`    ${name}: ${outcome.code} ${outcome.seconds.toFixed(1)} s ${said}`);
  const fault = faultOf(outcome, how.stack) ?? how.check?.(outcome);
  note(area, name, fault && `${fault} [${outcome.code}] ${said}`);
  return outcome;
}
