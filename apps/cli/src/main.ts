/** The process around run(): its streams, its signals and its exit code. */
import { type Io, type Output, run } from "./run.ts";

/**
 * A stream that may break: a reader that has seen enough, such as `head`, is not a failure; a full
 * disk is.
 */
function breakable(stream: NodeJS.WriteStream): {
  readonly output: Output;
  readonly error: () => Error | undefined;
} {
  let error: NodeJS.ErrnoException | undefined;
  stream.on("error", (found: NodeJS.ErrnoException) => {
    error ??= found;
  });
  const write = (text: string | Uint8Array): void => {
    if (!error) stream.write(text);
  };
  const { isTTY, columns } = stream;
  return {
    output: { write, isTTY, columns },
    error: () => (error?.code === "EPIPE" ? undefined : error),
  };
}

/**
 * Set by Ctrl-C, a request to end or a terminal that is gone, once: a second Ctrl-C ends the
 * process.
 */
function interruption(stderr: Output): AbortSignal {
  const controller = new AbortController();
  process.once("SIGINT", () => {
    stderr.write("\nstopping after this step; Ctrl-C again ends at once\n");
    controller.abort();
  });
  for (const signal of ["SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => controller.abort());
  return controller.signal;
}

/** Node's exit code where nothing is left to wait for. */
const UNSETTLED = 13;

const stdout = breakable(process.stdout);
const { output: stderr } = breakable(process.stderr);
let signal: AbortSignal | undefined;
const io: Io = {
  stdout: stdout.output,
  stderr,
  get stdin() {
    return process.stdin;
  },
  // The signals are caught from the first look on: a command that never looks is ended by them as
  // ever.
  get signal() {
    signal ??= interruption(stderr);
    return signal;
  },
};

/** A model or a map may end the process, or leave the command to wait for what never comes. */
const onEarlyExit = (code: number): void => {
  if (code !== 0 && code !== UNSETTLED) return;
  stderr.write("diffeo: other code, such as a model's, ended the process before the command did\n");
  process.exitCode = 1;
};
process.on("exit", onEarlyExit);
process.exitCode = await run(process.argv.slice(2), io);
process.off("exit", onEarlyExit);
process.on("exit", () => {
  const error = stdout.error();
  if (error === undefined) return;
  stderr.write(`diffeo: cannot write standard output (${(error as NodeJS.ErrnoException).code})\n`);
  process.exitCode = 1;
});
