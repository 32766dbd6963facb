/** The worker's side of the page: which scene is shown, where the point is, what `check` says. */
import { engine } from "../../shell/engine.svelte.ts";
import {
  isStopped,
  type OpenWorker,
  openWorker,
  type Trouble,
  troubleOf,
} from "../../shell/rpc.ts";
import { lattice } from "../../view/frame.ts";
import type { Misread } from "./expression.ts";
import type { Field } from "./names.ts";
import { type Ask, type Reading, type Scene, SHADES } from "./shapes.ts";

type Tasks = typeof import("./tasks.ts");
type Report = Extract<Awaited<ReturnType<Tasks["verdict"]>>, { readonly laws: unknown }>;
type Place = { readonly x: readonly [number, number] } | { readonly u: readonly [number, number] };

/** Where p is highest: a point to hold, where the one in the hand is outside of the domain. */
function highest({ x: { frame, shades } }: Scene): readonly [number, number] {
  const best = shades.reduce(
    (most, v, i) => (v > shades[most] || Number.isNaN(shades[most]) ? i : most),
    0,
  );
  const [u, v] = lattice(frame, SHADES).subarray(2 * best, 2 * best + 2);
  return [u, v];
}

export class Scores {
  scene = $state.raw<Scene>();
  reading = $state.raw<Reading>();
  /** What of the typed expressions cannot be read. */
  unread = $state.raw<Partial<Record<Field, Misread>>>({});
  trouble = $state.raw<Trouble>();
  verdict = $state.raw<Report | "asked">();
  busy = $state(true);
  #worker: OpenWorker<Tasks> | undefined;
  #checker: OpenWorker<Tasks> | undefined;
  #current: AbortController | undefined;
  #place: Place | undefined;
  #asking = false;
  #closed = false;

  async #open(): Promise<OpenWorker<Tasks> | undefined> {
    await engine();
    if (this.#closed) return undefined;
    // Small graphs are faster on one thread.
    this.#worker ??= openWorker<Tasks>("scores", 1);
    return this.#worker;
  }

  async show(ask: Ask, x: readonly [number, number]): Promise<void> {
    this.#current?.abort();
    const controller = new AbortController();
    this.#current = controller;
    const { signal } = controller;
    this.busy = true;
    try {
      const worker = await this.#open();
      const scene = await worker?.call("open", ask, { signal });
      if (!scene || signal.aborted) return;
      this.unread = scene.kind === "unread" ? scene.fields : {};
      this.trouble = undefined;
      this.busy = false;
      if (scene.kind === "unread") return;
      this.scene = scene;
      this.reading = undefined;
      await this.move({ x });
      if (!this.reading && !signal.aborted) await this.move({ x: highest(scene) });
    } catch (error) {
      if (signal.aborted || isStopped(error)) return;
      this.busy = false;
      this.trouble = troubleOf(error);
    }
  }

  /** Asks for a point; of those that come while one is asked for, the last. */
  async move(place: Place): Promise<void> {
    this.#place = place;
    if (this.#asking) return;
    this.#asking = true;
    try {
      while (this.#place && !this.#closed) {
        const asked: Place = this.#place;
        this.#place = undefined;
        const reading = await this.#worker?.call("point", asked);
        if (reading) this.reading = reading;
      }
    } catch (error) {
      if (!isStopped(error)) this.trouble = troubleOf(error);
    } finally {
      this.#asking = false;
    }
  }

  /** Holds the map to its laws, beside everything else: it takes seconds. */
  async check(ask: Ask): Promise<void> {
    this.#checker?.close();
    this.verdict = "asked";
    const checker = openWorker<Tasks>("scores", 1);
    this.#checker = checker;
    try {
      const report = await checker.call("verdict", ask);
      if (this.#checker !== checker) return;
      this.verdict = "laws" in report ? report : undefined;
    } catch (error) {
      if (this.#checker !== checker || isStopped(error)) return;
      this.verdict = undefined;
      this.trouble = troubleOf(error);
    }
    checker.close();
  }

  forget(): void {
    this.#checker?.close();
    this.#checker = undefined;
    this.verdict = undefined;
  }

  close(): void {
    this.#closed = true;
    this.#worker?.close();
    this.#checker?.close();
  }
}
