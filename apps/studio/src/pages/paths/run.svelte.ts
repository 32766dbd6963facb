/** A run of the page: the forward path, then the reverse paths as they are computed. */
import { WorkerRun } from "../../shell/worker-run.svelte.ts";
import type { Back, Outward, RunRequest, Update, Way } from "./shapes.ts";

/** The slope of log distance against log dt, by least squares. */
export function slopeOf(
  points: readonly { readonly dt: number; readonly distance: number }[],
): number {
  const [x, y] = [
    points.map(({ dt }) => Math.log(dt)),
    points.map(({ distance }) => Math.log(distance)),
  ];
  const mean = (v: readonly number[]): number => v.reduce((a, b) => a + b, 0) / v.length;
  const [mx, my] = [mean(x), mean(y)];
  return (
    x.reduce((s, v, i) => s + (v - mx) * (y[i] - my), 0) / x.reduce((s, v) => s + (v - mx) ** 2, 0)
  );
}

export class Paths extends WorkerRun<typeof import("./tasks.ts")> {
  outward = $state.raw<Outward>();
  /** The reverse path in x for the selected number of steps, known before those in y. */
  way = $state.raw<Way>();
  /** By number of steps, fewest first. */
  backs = $state.raw<readonly Back[]>([]);
  done = $state(false);
  /** The space and seed of the forward path that is shown; it does not depend on w. */
  #shown = "";

  constructor() {
    super("paths");
  }

  #show(request: RunRequest, update: Update): void {
    if (update.kind === "outward") {
      const name = `${request.space} ${request.seed}`;
      if (this.#shown === name) return;
      this.#shown = name;
      this.outward = update.outward;
      [this.way, this.backs] = [undefined, []];
    } else if (update.kind === "way") [this.way, this.backs] = [update.way, []];
    else this.backs = [...this.backs, update.back].sort((a, b) => a.steps - b.steps);
  }

  async start(request: RunRequest): Promise<void> {
    this.done = false;
    await this.run(async (worker, signal) => {
      await worker.call("run", request, {
        signal,
        onReport: (update) => {
          if (!signal.aborted) this.#show(request, update);
        },
      });
      if (signal.aborted) return;
      this.done = true;
      if (request.w === 1) await worker.call("prepare", request, { signal });
    });
  }
}
