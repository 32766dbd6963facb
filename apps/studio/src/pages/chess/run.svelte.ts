/**
 * A run of the reverse diffusion as the page sees it: the model that comes first, frames as they
 * come, which of them is shown, and whether time runs. The worker computes; here it is only shown
 * and steered.
 */
import { engine, fallBack } from "../../shell/engine.svelte.ts";
import {
  isStopped,
  type OpenWorker,
  openWorker,
  type Trouble,
  troubleOf,
} from "../../shell/rpc.ts";
import { type Frame, type Reading, readingOf, withKnown } from "./frames.ts";
import type { DrawAsk, Loaded } from "./tasks.ts";

/** What is asked of a run, but for where it is computed. */
export type Ask = Omit<DrawAsk, "device">;

type Phase =
  | { readonly kind: "loading"; readonly share: number }
  | { readonly kind: "preparing" }
  | { readonly kind: "running" }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly trouble: Trouble };

type Tasks = typeof import("./tasks.ts");
export type Source = { readonly url: string } | { readonly bytes: Uint8Array };

/** Frames a second when what is there already is shown again. */
const REPLAY = 24;

export class Run {
  phase = $state.raw<Phase>({ kind: "loading", share: 0 });
  /** How many frames there are, and how many there will be. */
  known = $state(0);
  total = $state(1);
  playing = $state(true);
  /** The frame to stay at, or to go on from; none follows the run. */
  target = $state<number>();
  model = $state.raw<Loaded>();
  readings = $state.raw<readonly Reading[]>([]);
  #frames: Frame[] = [];
  #worker: OpenWorker<Tasks> | undefined;
  #device = "cpu";
  #loaded: Promise<void> | undefined;
  #current: AbortController | undefined;
  #last: Ask | undefined;
  #closed = false;
  readonly #clock = setInterval(() => this.#tick(), 1000 / REPLAY);

  /** The frame that is shown, from 0. */
  get at(): number {
    return Math.max(0, Math.min(this.target ?? Number.POSITIVE_INFINITY, this.known - 1));
  }

  get frame(): Frame | undefined {
    return this.known > 0 ? this.#frames[this.at] : undefined;
  }

  /** Brings a model. */
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
      const onTell = (share: number): void => {
        this.phase = { kind: "loading", share };
      };
      this.model = await this.#worker.call("load", source, { onTell });
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (!isStopped(error)) this.phase = { kind: "failed", trouble: troubleOf(error) };
  }

  /**
   * Draws boards anew; what was being drawn is dropped.
   * @param stay the frame to show and to stay at, where not the last
   */
  async start(ask: Ask, stay?: number): Promise<void> {
    this.#last = ask;
    this.#current?.abort();
    const controller = new AbortController();
    this.#current = controller;
    const { signal } = controller;
    await this.#loaded;
    if (signal.aborted || !this.#worker || this.model === undefined) return;
    this.target = stay;
    this.playing = stay === undefined;
    const frames: Frame[] = [];
    const readings: Reading[] = [];
    const take = (told: Frame): void => {
      const frame = withKnown(told, ask.known);
      frames.push(frame);
      readings.push(readingOf(frame, ask.known));
      this.phase = { kind: "running" };
      this.#frames = frames;
      this.known = frames.length;
      this.total = ask.steps + 1;
      this.readings = readings.slice();
    };
    try {
      await this.#worker.call(
        "draw",
        { ...ask, device: this.#device },
        {
          signal,
          onTell: (told) => {
            if (signal.aborted) return;
            if (told.kind === "frame") take(told);
            else this.phase = { kind: "preparing" };
          },
        },
      );
      this.phase = { kind: "done" };
    } catch (error) {
      if (signal.aborted) return;
      if (this.#device !== "webgpu") return this.#fail(error);
      // The GPU failed: the same on the processor, in the same worker.
      fallBack(troubleOf(error).message);
      this.#device = "cpu";
      await this.start(ask, stay);
    }
  }

  /** Compiles what a call like this needs, so that it will not wait. */
  async prepare(ask: Ask): Promise<void> {
    if (this.phase.kind === "done")
      await this.#worker?.call("prepare", { ...ask, device: this.#device }).catch(() => undefined);
  }

  again(): void {
    if (this.#last) void this.start(this.#last);
  }

  toggle(): void {
    this.playing = !this.playing;
    if (!this.playing) this.target = this.at;
    else if (this.phase.kind === "done" && this.at >= this.known - 1) this.target = 0;
    if (this.phase.kind === "running")
      void this.#worker?.call("pace", { steps: this.playing ? undefined : 0 });
  }

  /** Shows a frame and stays there; one past the last asks the run for it. */
  seek(frame: number): void {
    if (this.playing) this.toggle();
    const running = this.phase.kind === "running";
    if (frame >= this.known && running) void this.#worker?.call("pace", { steps: 1 });
    this.target = Math.min(running ? this.known : this.known - 1, Math.max(0, frame));
  }

  /** What is there already is shown in its time; at its end the view follows the run. */
  #tick(): void {
    if (!this.playing || this.known === 0) return;
    if (this.target !== undefined) {
      this.target++;
      if (this.target >= this.known - 1) this.target = undefined;
    } else if (this.phase.kind === "done") this.playing = false;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#clock);
    this.#current?.abort();
    this.#worker?.close();
  }
}
