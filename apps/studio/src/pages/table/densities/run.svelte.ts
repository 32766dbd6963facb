/** Three fits, one worker per fit. */
import { engine } from "../../../shell/engine.svelte.ts";
import {
  isStopped,
  type OpenWorker,
  openWorker,
  type Trouble,
  troubleOf,
} from "../../../shell/rpc.ts";
import type { Frame } from "../../../view/frame.ts";
import {
  type Evaluation,
  type Field,
  LOSSES,
  type LossName,
  type Noise,
  type RunRequest,
  type Step,
} from "./shapes.ts";

type Tasks = typeof import("./tasks.ts");

/** The state of one fit. */
export class DensityFit {
  readonly loss: LossName;
  steps = $state.raw<readonly Step[]>([]);
  most = $state(1);
  noise = $state.raw<readonly Noise[]>([]);
  field = $state.raw<Field>();
  evaluation = $state.raw<Evaluation>();
  trouble = $state.raw<Trouble>();
  constructor(loss: LossName) {
    this.loss = loss;
  }
}

export class DensityFits {
  fits = $state.raw<readonly DensityFit[]>(LOSSES.map(({ value }) => new DensityFit(value)));
  data = $state.raw<{ readonly frame: Frame; readonly points: Float32Array }>();
  running = $state(false);
  #workers: OpenWorker<Tasks>[] = [];

  async start(request: Omit<RunRequest, "loss">): Promise<void> {
    this.stop();
    this.fits = LOSSES.map(({ value }) => new DensityFit(value));
    this.running = true;
    const own = this.fits;
    await engine();
    if (this.fits !== own || !this.running) return;
    // Small graphs are faster on one thread, and there are three workers.
    this.#workers = LOSSES.map(() => openWorker<Tasks>("densities", 1));
    const workers = this.#workers;
    await Promise.all(own.map((fit, i) => this.#fit(fit, workers[i], request)));
    if (this.#workers === workers) this.stop();
  }

  async #fit(
    fit: DensityFit,
    worker: OpenWorker<Tasks>,
    request: Omit<RunRequest, "loss">,
  ): Promise<void> {
    try {
      fit.evaluation = await worker.call(
        "fit",
        { ...request, loss: fit.loss },
        {
          onReport: (update) => {
            if (update.kind === "data") this.data = update;
            else if (update.kind === "noise") fit.noise = [...fit.noise, update.noise];
            else if (update.kind === "field") fit.field = update.field;
            else {
              fit.steps = [...fit.steps, ...update.steps];
              fit.most = update.most;
            }
          },
        },
      );
    } catch (error) {
      if (!isStopped(error)) fit.trouble = troubleOf(error);
    }
    worker.close();
  }

  /** Stops the fits; their results stay visible. */
  stop(): void {
    for (const worker of this.#workers) worker.close();
    this.#workers = [];
    this.running = false;
  }
}
