/** A run as the page sees it: chains as they come, then warnings and predictions. */
import {
  isStopped,
  type OpenWorker,
  openWorker,
  type Trouble,
  troubleOf,
} from "../../shell/rpc.ts";
import type { Answer, Ask, Progress } from "./shapes.ts";

type Tasks = typeof import("./tasks.ts");

export class Run {
  progress = $state.raw<Progress>();
  answer = $state.raw<Answer>();
  trouble = $state.raw<Trouble>();
  running = $state(false);
  #worker: OpenWorker<Tasks> | undefined;

  async start(ask: Ask): Promise<void> {
    this.stop();
    [this.progress, this.answer, this.trouble, this.running] = [
      undefined,
      undefined,
      undefined,
      true,
    ];
    // Code that somebody typed: each run has a worker of its own, which ends with it.
    const worker = openWorker<Tasks>("posterior", 1);
    this.#worker = worker;
    try {
      this.answer = await worker.call("run", ask, {
        onReport: (progress) => {
          if (this.#worker === worker) this.progress = progress;
        },
      });
    } catch (error) {
      if (!isStopped(error)) this.trouble = troubleOf(error);
    } finally {
      worker.close();
      if (this.#worker === worker) [this.#worker, this.running] = [undefined, false];
    }
  }

  /** Ends a run at once, whatever its code does. */
  stop(): void {
    this.#worker?.close();
    this.#worker = undefined;
    this.running = false;
  }
}
