/** A run of the page: chains while they are sampled, then warnings and predictions. */
import { WorkerRun } from "../../shell/worker-run.svelte.ts";
import type { Answer, Progress, RunRequest } from "./shapes.ts";

export class Run extends WorkerRun<typeof import("./tasks.ts")> {
  progress = $state.raw<Progress>();
  answer = $state.raw<Answer>();
  running = $state(false);

  constructor() {
    super("posterior");
  }

  /** Removes the results of the last run. */
  clear(): void {
    this.stop();
    [this.progress, this.answer, this.trouble] = [undefined, undefined, undefined];
  }

  async start(request: RunRequest): Promise<void> {
    this.clear();
    this.running = true;
    const isLatest = await this.run(async (worker, signal) => {
      this.answer = await worker.call("run", request, {
        onReport: (progress) => {
          if (!signal.aborted) this.progress = progress;
        },
      });
    });
    // A worker has run code that somebody typed, so each run gets a new one.
    if (isLatest) this.stop();
  }

  /** Ends a run at once, whatever its code does. */
  stop(): void {
    this.endWorker();
    this.running = false;
  }
}
