/** The process around run(): its streams, its signals and its exit code. */
import { type Io, type Output, run } from "./run.ts";

/**
 * An output stream that may break. A reader that closes it early, such as `head`, is not a failure;
 * a full disk is.
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

/** Aborted by the first Ctrl-C, SIGTERM or SIGHUP. A second Ctrl-C ends the process. */
function interruption(stderr: Output): AbortSignal {
  const controller = new AbortController();
  process.once("SIGINT", () => {
    stderr.write("\nstopping after this step; press Ctrl-C again to end at once\n");
    controller.abort();
  });
  for (const signal of ["SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => controller.abort());
  return controller.signal;
}

/** Node's exit code when nothing is left to wait for, but a promise is pending. */
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
  // Signals are caught once a command has read `signal`. Until then they end the process as usual.
  get signal() {
    signal ??= interruption(stderr);
    return signal;
  },
};

/** Code of a model or a map may end the process, or leave the command waiting forever. */
const onEarlyExit = (code: number): void => {
  if (code !== 0 && code !== UNSETTLED) return;
  stderr.write(
    "diffeo: code outside of diffeo, such as a model, ended the process before the command " +
      "was done\n",
  );
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
