/** Exit codes: 0 done, 1 failed, 2 wrong usage, 3 numerical failure, 130 interrupted. */
import { DiffeoError, type ErrorKind } from "diffeo/graph";

const codes: Readonly<Record<ErrorKind, number>> = {
  shape: 2,
  type: 2,
  usage: 2,
  device: 1,
  data: 1,
  disposed: 1,
  numerical: 3,
};

/** Says an error the way a person reads it: our own in one sentence, anything else with its stack. */
export function reportError(error: unknown): void {
  if (error instanceof DiffeoError) {
    process.stderr.write(`diffeo: ${error.message}\n`);
    process.exitCode = codes[error.kind];
  } else if (error instanceof Error && error.name === "AbortError") {
    process.stderr.write("diffeo: interrupted\n");
    process.exitCode = 130;
  } else {
    process.stderr.write(`diffeo: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  }
}
