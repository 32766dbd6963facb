/**
 * The worker of the studio: it runs tasks by module and name for shell/rpc.ts, and loads a module
 * with its first task. To let a page compute, write its tasks in a file and add a row here.
 */
import { configureWeb } from "diffeo/web";
import type { Reply, Request, Tasks } from "./shell/rpc.ts";
import { troubleOf, turn } from "./shell/rpc.ts";

const modules: Readonly<Record<string, () => Promise<Tasks>>> = {
  home: () => import("./pages/home/tasks.ts"),
  chess: () => import("./pages/chess/tasks.ts"),
  sudoku: () => import("./pages/sudoku/tasks.ts"),
  scores: () => import("./pages/scores/tasks.ts"),
  paths: () => import("./pages/paths/tasks.ts"),
  posterior: () => import("./pages/posterior/tasks.ts"),
  table: () => import("./pages/table/tasks.ts"),
  parquet: () => import("./pages/table/parquet.ts"),
  densities: () => import("./pages/table/densities/tasks.ts"),
};

const reply = (message: Reply, transfer: readonly Transferable[] = []): void =>
  postMessage(message, { transfer: [...transfer] });

const running = new Map<number, AbortController>();

let configured = false;

async function run({
  call,
  module,
  name,
  input,
  threads,
}: Extract<Request, { kind: "call" }>): Promise<void> {
  if (!configured) configureWeb({ threads });
  configured = true;
  const controller = new AbortController();
  running.set(call, controller);
  const { signal } = controller;
  try {
    const tasks = await modules[module]();
    // A moving slider starts many calls; most are stopped before they begin.
    await turn();
    signal.throwIfAborted();
    const output = await tasks[name](input as never, {
      signal,
      report: (event, transfer) => reply({ kind: "report", call, event }, transfer),
    });
    reply({ kind: "done", call, output });
  } catch (error) {
    reply({ kind: "failed", call, trouble: troubleOf(error), aborted: signal.aborted });
  } finally {
    running.delete(call);
  }
}

addEventListener("message", ({ data }: MessageEvent<Request>) => {
  if (data.kind === "stop") running.get(data.call)?.abort();
  else void run(data);
});
