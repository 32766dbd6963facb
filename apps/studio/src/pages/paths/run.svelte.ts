/** A run as the page sees it: the way out, and the ways back as they come. */
import { engine } from "../../shell/engine.svelte.ts";
import {
  isStopped,
  type OpenWorker,
  openWorker,
  type Trouble,
  troubleOf,
} from "../../shell/rpc.ts";
import type { Ask, Back, Outward, Way } from "./shapes.ts";

type Tasks = typeof import("./tasks.ts");

/** The slope of log distance against log dt. */
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

export class Paths {
  outward = $state.raw<Outward>();
  /** That of the steps that are looked at, before what is stepped in y is there. */
  way = $state.raw<Way>();
  /** By number of steps, fewest first. */
  backs = $state.raw<readonly Back[]>([]);
  done = $state(false);
  trouble = $state.raw<Trouble>();
  #worker: OpenWorker<Tasks> | undefined;
  #current: AbortController | undefined;
  #closed = false;
  /** Which way out is shown: that of another w is the same. */
  #shown = "";

  async start(ask: Ask): Promise<void> {
    this.#current?.abort();
    const controller = new AbortController();
    this.#current = controller;
    const { signal } = controller;
    this.done = false;
    this.trouble = undefined;
    let backs: readonly Back[] = [];
    try {
      await engine();
      if (this.#closed || signal.aborted) return;
      // Small graphs are faster on one thread.
      this.#worker ??= openWorker<Tasks>("paths", 1);
      await this.#worker.call("run", ask, {
        signal,
        onReport: (update) => {
          if (signal.aborted) return;
          if (update.kind === "outward") {
            const name = `${ask.space} ${ask.seed}`;
            if (this.#shown === name) return;
            this.#shown = name;
            this.outward = update.outward;
            [this.way, this.backs] = [undefined, []];
          } else if (update.kind === "way") [this.way, this.backs] = [update.way, []];
          else {
            backs = [...backs, update.back].sort((a, b) => a.steps - b.steps);
            this.backs = backs;
          }
        },
      });
      if (signal.aborted) return;
      this.done = true;
      if (ask.w === 1) await this.#worker.call("prepare", ask, { signal });
    } catch (error) {
      if (!signal.aborted && !isStopped(error)) this.trouble = troubleOf(error);
    }
  }

  close(): void {
    this.#closed = true;
    this.#current?.abort();
    this.#worker?.close();
  }
}
