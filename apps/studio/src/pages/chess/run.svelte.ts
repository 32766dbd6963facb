/**
 * A run of the reverse diffusion as the page sees it: the model that comes first, frames as they come, which of them is
 * shown, and whether time runs. The worker computes; here it is only shown and steered.
 */
import { engine, fallBack } from "../../shell/engine.svelte.ts";
import { isStopped, type OpenWorker, openWorker, type Trouble, troubleOf } from "../../shell/rpc.ts";
import { type Frame, type Reading, readingOf } from "./frames.ts";
import type { DrawAsk } from "./tasks.ts";

/** What is asked of a run, but for where it is computed. */
export type Ask = Omit<DrawAsk, "device" | "paused">;

export type Phase =
  | { readonly kind: "loading"; readonly share: number }
  | { readonly kind: "preparing" }
  | { readonly kind: "running" }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly trouble: Trouble };

type Tasks = typeof import("./tasks.ts");
type Source = { readonly url: string } | { readonly bytes: Uint8Array };

/** Frames a second when what is there already is shown again. */
const REPLAY = 24;

export class Run {
  phase = $state.raw<Phase>({ kind: "loading", share: 0 });
  /** How many frames there are, and which is shown. */
  known = $state(0);
  at = $state(0);
  playing = $state(true);
  total = $state(1);
  parameters = $state(0);
  readings = $state.raw<readonly Reading[]>([]);
  #frames: Frame[] = [];
  #worker: OpenWorker<Tasks> | undefined;
  #device = "cpu";
  #loaded: Promise<void> | undefined;
  #current: AbortController | undefined;
  #last: Ask | undefined;
  #closed = false;
  /** Whether the next frame was asked for by a step. */
  #stepping = false;
  readonly #clock = setInterval(() => this.#tick(), 1000 / REPLAY);

  /** The frame that is shown. */
  get frame(): Frame | undefined {
    return this.known > 0 ? this.#frames[Math.min(this.at, this.known - 1)] : undefined;
  }

  get finished(): boolean {
    return this.phase.kind === "done";
  }

  /** Brings a model, in a worker of its own. */
  load(source: Source): Promise<void> {
    this.#loaded = this.#load(source);
    return this.#loaded;
  }

  async #load(source: Source): Promise<void> {
    this.#current?.abort();
    this.phase = { kind: "loading", share: 0 };
    try {
      const { device, threads } = await engine();
      if (this.#closed) return;
      this.#device = device;
      this.#worker ??= openWorker<Tasks>("chess", threads);
      const { parameters } = await this.#worker.call("load", source, {
        onTell: (share) => {
          this.phase = { kind: "loading", share };
        },
      });
      this.parameters = parameters;
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (!isStopped(error)) this.phase = { kind: "failed", trouble: troubleOf(error) };
  }

  /**
   * Draws boards anew; what was being drawn is dropped.
   * @param park the frame to show and to stay at, where not the last
   */
  async start(ask: Ask, park?: number): Promise<void> {
    this.#last = ask;
    this.#current?.abort();
    const controller = new AbortController();
    this.#current = controller;
    await this.#loaded;
    if (controller.signal.aborted || this.phase.kind === "failed" || !this.#worker) return;
    this.#frames = [];
    this.total = ask.steps + 1;
    this.playing = park === undefined;
    let readings: Reading[] = [];
    try {
      await this.#worker.call(
        "draw",
        { ...ask, device: this.#device, paused: false },
        {
          signal: controller.signal,
          onTell: (told) => {
            if (controller.signal.aborted) return;
            if (told.kind === "preparing") {
              this.phase = { kind: "preparing" };
              return;
            }
            this.phase = { kind: "running" };
            const first = this.#frames.length === 0;
            this.#frames.push(told);
            readings = [...readings, readingOf(told)];
            this.readings = readings;
            const before = this.known;
            this.known = this.#frames.length;
            // The view goes with the run where it was at its end.
            if (park !== undefined) this.at = Math.min(park, this.known - 1);
            else if (first) this.at = 0;
            else if ((this.playing || this.#stepping) && this.at >= before - 1) this.at = this.known - 1;
            this.#stepping = false;
          },
        },
      );
      this.phase = { kind: "done" };
      if (this.at === this.known - 1) this.playing = false;
    } catch (error) {
      if (controller.signal.aborted) return;
      if (this.#device === "webgpu") await this.#withoutGpu(error, ask);
      else this.#fail(error);
    }
  }

  /** The GPU failed: the same on the processor, in the same worker. */
  async #withoutGpu(error: unknown, ask: Ask): Promise<void> {
    fallBack(troubleOf(error).message);
    this.#device = "cpu";
    await this.start(ask);
  }

  /** Compiles what another w would need, so that the slider does not wait. */
  async prepare(ask: Ask): Promise<void> {
    await this.#worker?.call("prepare", { ...ask, device: this.#device, paused: false }).catch(() => undefined);
  }

  again(): void {
    if (this.#last) void this.start(this.#last);
  }

  toggle(): void {
    if (!this.playing && this.finished && this.at >= this.known - 1) this.at = 0;
    this.playing = !this.playing;
    if (this.phase.kind === "running") void this.#worker?.call("pace", { steps: this.playing ? undefined : 0 });
  }

  /** Shows a frame and stays there; one past the last asks the run for it. */
  seek(frame: number): void {
    if (this.playing) this.toggle();
    if (frame >= this.known && this.phase.kind === "running") {
      this.#stepping = true;
      void this.#worker?.call("pace", { steps: 1 });
    }
    this.at = Math.min(this.known - 1, Math.max(0, frame));
  }

  #tick(): void {
    if (!this.playing || this.known === 0) return;
    if (this.at < this.known - 1) this.at++;
    else if (this.finished) this.playing = false;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#clock);
    this.#current?.abort();
    this.#worker?.close();
  }
}
