/**
 * State of the page: the scene, the point that is selected, and what `check` finds of a typed map.
 */
import { isStopped, type OpenWorker, openWorker } from "../../shell/rpc.ts";
import { WorkerRun } from "../../shell/worker-run.svelte.ts";
import { lattice } from "../../view/frame.ts";
import type { Misread } from "./expression.ts";
import type { Field } from "./names.ts";
import { type Reading, type RunRequest, type Scene, SHADES } from "./shapes.ts";

type Tasks = typeof import("./tasks.ts");
type Report = Extract<Awaited<ReturnType<Tasks["verdict"]>>, { readonly properties: unknown }>;
type Place = { readonly x: readonly [number, number] } | { readonly u: readonly [number, number] };

/** Where p is highest: the point to select when the selected one is outside the domain. */
function highest({ x: { frame, shades } }: Scene): readonly [number, number] {
  const best = shades.reduce(
    (most, v, i) => (v > shades[most] || Number.isNaN(shades[most]) ? i : most),
    0,
  );
  const [u, v] = lattice(frame, SHADES).subarray(2 * best, 2 * best + 2);
  return [u, v];
}

export class Scores extends WorkerRun<Tasks> {
  scene = $state.raw<Scene>();
  reading = $state.raw<Reading>();
  /** The typed expressions that cannot be read, and why. */
  unread = $state.raw<Partial<Record<Field, Misread>>>({});
  verdict = $state.raw<Report | "running">();
  busy = $state(true);
  #checker: OpenWorker<Tasks> | undefined;
  #place: Place | undefined;
  #isReading = false;

  constructor() {
    super("scores");
  }

  async show(request: RunRequest, x: readonly [number, number]): Promise<void> {
    this.busy = true;
    const isLatest = await this.run(async (worker, signal) => {
      const scene = await worker.call("open", request, { signal });
      if (signal.aborted) return;
      this.unread = scene.kind === "unread" ? scene.fields : {};
      this.busy = false;
      if (scene.kind === "unread") return;
      this.scene = scene;
      this.reading = undefined;
      await this.move({ x });
      if (!this.reading && !signal.aborted) await this.move({ x: highest(scene) });
    });
    if (isLatest) this.busy = false;
  }

  /** Selects a point; of several requests that come while one is computed, the last one counts. */
  async move(place: Place): Promise<void> {
    this.#place = place;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#place) {
        const next: Place = this.#place;
        this.#place = undefined;
        const reading = await (await this.worker())?.call("point", next);
        if (reading) this.reading = reading;
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.#isReading = false;
    }
  }

  /** Checks a typed map in a worker of its own, because it takes seconds. */
  async check(request: RunRequest): Promise<void> {
    this.#checker?.close();
    this.verdict = "running";
    const checker = openWorker<Tasks>("scores", 1);
    this.#checker = checker;
    try {
      const report = await checker.call("verdict", request);
      if (this.#checker !== checker) return;
      this.verdict = "properties" in report ? report : undefined;
    } catch (error) {
      if (this.#checker !== checker || isStopped(error)) return;
      this.verdict = undefined;
      this.fail(error);
    }
    checker.close();
  }

  /** Removes the result of the last check. */
  forget(): void {
    this.#checker?.close();
    this.#checker = undefined;
    this.verdict = undefined;
  }

  override close(): void {
    super.close();
    this.#checker?.close();
  }
}
