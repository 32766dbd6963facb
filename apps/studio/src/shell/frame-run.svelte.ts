/**
 * A run that shows frames while a worker computes them: it loads a model, keeps the frames, and
 * knows which one is shown and whether it plays. Pages extend it with the calls to their worker.
 */
import { engine, fallBack } from "./engine.svelte.ts";
import { isStopped, type Trouble, troubleOf } from "./rpc.ts";

type Phase =
  | { readonly kind: "loading"; readonly share: number }
  | { readonly kind: "preparing" }
  | { readonly kind: "running" }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly trouble: Trouble };

/** One run of the worker, from the first frame to the last. */
interface Shoot<Frame> {
  /** The index of the last frame. */
  readonly steps: number;
  /** The frame to show and stay at. Default: follow the run. */
  readonly stay?: number | undefined;
  /** Computes on a device and passes each frame to `take`; calls `prepare` while graphs compile. */
  draw(
    device: string,
    signal: AbortSignal,
    to: { take(frame: Frame): void; prepare(): void },
  ): Promise<unknown>;
}

/** Frames per second of a replay. */
const REPLAY = 24;

export class FrameRun<Frame> {
  phase = $state.raw<Phase>({ kind: "loading", share: 0 });
  /** Number of frames computed so far, and number of frames of the run. */
  known = $state(0);
  total = $state(1);
  playing = $state(true);
  /** The frame to stay at or to play from; undefined follows the run. */
  target = $state<number>();
  #frames: Frame[] = [];
  #device = "cpu";
  #loaded: Promise<void> | undefined;
  #current: AbortController | undefined;
  #closed = false;
  readonly #clock = setInterval(() => this.#tick(), 1000 / REPLAY);

  /** The index of the frame that is shown. */
  get at(): number {
    return Math.max(0, Math.min(this.target ?? Number.POSITIVE_INFINITY, this.known - 1));
  }

  get frame(): Frame | undefined {
    return this.known > 0 ? this.#frames[this.at] : undefined;
  }

  /** The last frame of the run, once it has ended. */
  get last(): Frame | undefined {
    return this.phase.kind === "done" ? this.#frames[this.known - 1] : undefined;
  }

  get device(): string {
    return this.#device;
  }

  /** Loads a model in the worker that `load` starts with the given number of threads. */
  protected open(
    load: (threads: number, onShare: (share: number) => void) => Promise<void>,
  ): Promise<void> {
    this.#loaded = this.#open(load);
    return this.#loaded;
  }

  async #open(load: Parameters<FrameRun<Frame>["open"]>[0]): Promise<void> {
    this.#current?.abort();
    this.phase = { kind: "loading", share: 0 };
    try {
      const { device, threads } = await engine();
      if (this.#closed) return;
      this.#device = device;
      await load(threads, (share) => {
        this.phase = { kind: "loading", share };
      });
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (!isStopped(error)) this.phase = { kind: "failed", trouble: troubleOf(error) };
  }

  /** Shows the frames of `shoot` once a model is loaded; stops the previous run. */
  protected async shoot(isReady: () => boolean, shoot: Shoot<Frame>): Promise<void> {
    this.#current?.abort();
    const controller = new AbortController();
    this.#current = controller;
    const { signal } = controller;
    await this.#loaded;
    if (signal.aborted || !isReady()) return;
    this.target = shoot.stay;
    this.playing = shoot.stay === undefined;
    const frames: Frame[] = [];
    const take = (frame: Frame): void => {
      if (signal.aborted) return;
      frames.push(frame);
      this.phase = { kind: "running" };
      this.#frames = frames;
      this.known = frames.length;
      this.total = shoot.steps + 1;
    };
    const prepare = (): void => {
      if (!signal.aborted) this.phase = { kind: "preparing" };
    };
    try {
      await shoot.draw(this.#device, signal, { take, prepare });
      this.phase = { kind: "done" };
    } catch (error) {
      if (signal.aborted) return;
      if (this.#device !== "webgpu") return this.#fail(error);
      // The GPU failed: repeat the run on the processor, in the same worker.
      fallBack(troubleOf(error).message);
      this.#device = "cpu";
      await this.shoot(isReady, shoot);
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

  /** Replays computed frames; after the last one the view follows the run. */
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
  }
}
