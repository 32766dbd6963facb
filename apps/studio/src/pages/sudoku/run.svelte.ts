/**
 * A run of the reverse diffusion as the page sees it: the model that comes first, frames as they
 * come, and which of them is shown.
 */
import sudoku from "diffeo-models/sudoku.safetensors?url";
import { engine, fallBack } from "../../shell/engine.svelte.ts";
import {
  isStopped,
  type OpenWorker,
  openWorker,
  type Trouble,
  troubleOf,
} from "../../shell/rpc.ts";
import { type Frame, SITES } from "./grid.ts";
import type { DrawAsk } from "./tasks.ts";

/** What is asked of a run, but for where it is computed. */
export type Ask = Omit<DrawAsk, "device">;

type Phase =
  | { readonly kind: "loading"; readonly share: number }
  | { readonly kind: "preparing" }
  | { readonly kind: "running" }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly trouble: Trouble };

type Tasks = typeof import("./tasks.ts");

/** Frames per second when what is there already is shown again. */
const REPLAY = 24;

/** A frame with its clues as they are: the process has noise on them until its end. */
function withClues({ t, mixture }: Frame, clues: readonly number[]): Frame {
  const shown = mixture.slice();
  for (let at = 0; at < shown.length; at += 9) {
    const digit = clues[(at / 9) % SITES];
    if (digit) shown.fill(0, at, at + 9)[at + digit - 1] = 255;
  }
  return { t, mixture: shown };
}

export class Run {
  phase = $state.raw<Phase>({ kind: "loading", share: 0 });
  parameters = $state(0);
  /** How many frames there are, and how many there will be. */
  known = $state(0);
  total = $state(1);
  playing = $state(true);
  /** The frame to stay at, or to go on from; none follows the run. */
  target = $state<number>();
  #frames: Frame[] = [];
  #worker: OpenWorker<Tasks> | undefined;
  #device = "cpu";
  readonly #loaded: Promise<void>;
  #current: AbortController | undefined;
  #closed = false;
  readonly #clock = setInterval(() => this.#tick(), 1000 / REPLAY);

  constructor() {
    this.#loaded = this.#load();
  }

  async #load(): Promise<void> {
    try {
      const { device, threads } = await engine();
      if (this.#closed) return;
      this.#device = device;
      this.#worker = openWorker<Tasks>("sudoku", threads);
      const onTell = (share: number): void => {
        this.phase = { kind: "loading", share };
      };
      const url = new URL(sudoku, document.baseURI).href;
      this.parameters = (await this.#worker.call("load", { url }, { onTell })).parameters;
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (!isStopped(error)) this.phase = { kind: "failed", trouble: troubleOf(error) };
  }

  /** The frame that is shown, from 0. */
  get at(): number {
    return Math.max(0, Math.min(this.target ?? Number.POSITIVE_INFINITY, this.known - 1));
  }

  get frame(): Frame | undefined {
    return this.known > 0 ? this.#frames[this.at] : undefined;
  }

  /** The grids at the end of the run, once it has ended. */
  get last(): Frame | undefined {
    return this.phase.kind === "done" ? this.#frames[this.known - 1] : undefined;
  }

  /** Samples grids anew; what was being sampled is dropped. */
  async start(ask: Ask): Promise<void> {
    this.#current?.abort();
    const controller = new AbortController();
    this.#current = controller;
    const { signal } = controller;
    await this.#loaded;
    if (signal.aborted || !this.#worker || this.parameters === 0) return;
    this.target = undefined;
    this.playing = true;
    const frames: Frame[] = [];
    this.known = 0;
    try {
      await this.#worker.call(
        "draw",
        { ...ask, device: this.#device },
        {
          signal,
          onTell: (told) => {
            if (signal.aborted) return;
            if (told.kind === "preparing") {
              this.phase = { kind: "preparing" };
              return;
            }
            frames.push(withClues(told, ask.clues));
            this.phase = { kind: "running" };
            this.#frames = frames;
            this.known = frames.length;
            this.total = ask.steps + 1;
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
      await this.start(ask);
    }
  }

  toggle(): void {
    this.playing = !this.playing;
    if (!this.playing) this.target = this.at;
    else if (this.phase.kind === "done" && this.at >= this.known - 1) this.target = 0;
  }

  /** Shows a frame and stays there. */
  seek(frame: number): void {
    if (this.playing) this.toggle();
    this.target = Math.min(this.known - 1, Math.max(0, frame));
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
