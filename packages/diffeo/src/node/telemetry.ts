/**
 * ONNX Runtime 1.30 for Node reports its use to Microsoft: node and model names of every session,
 * kept under `~/.cache/Microsoft` and sent from there. It does so unless the environment has
 * `ORT_DISABLE_TELEMETRY=1` when its first session opens.
 */
import { isMainThread } from "node:worker_threads";

const assignment = 'process.env.ORT_DISABLE_TELEMETRY = "1"';
const milliseconds = 2000;

/**
 * Sets the variable for the whole process. Only the main thread can: `process.env` of a worker is a
 * copy, which native code does not read. A worker therefore evaluates the assignment on the main
 * thread through Node's inspector, which interrupts running JavaScript but not a blocking wait.
 */
async function assignOnMainThread(): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const { Session } = await import("node:inspector/promises");
    const session = new Session();
    session.connectToMainThread();
    // The timer also keeps the worker alive until the answer comes.
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), milliseconds);
    });
    const answer = await Promise.race([
      session.post("Runtime.evaluate", { expression: assignment }),
      timeout,
    ]);
    session.disconnect();
    return answer?.result.value === "1";
  } catch {
    return false; // Node was built, or started, without the inspector
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Turns the telemetry of ONNX Runtime off in this process.
 *
 * @returns whether it is off. It is not if the main thread cannot be reached and the variable was
 * not set when the process started. The native runtime must not be used then.
 */
export async function disableTelemetry(): Promise<boolean> {
  const inherited = process.env.ORT_DISABLE_TELEMETRY === "1";
  const disabled = isMainThread || (await assignOnMainThread()) || inherited;
  // For the processes and workers that start from here.
  if (disabled) process.env.ORT_DISABLE_TELEMETRY = "1";
  return disabled;
}
