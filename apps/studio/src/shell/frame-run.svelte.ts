/**
 * A run that shows frames as a worker computes them: the model that loads first, which frame is
 * shown, and whether time runs. Pages extend it by what they ask of their worker.
 */
import { engine, fallBack } from "./engine.svelte.ts";
import { isStopped, type Trouble, troubleOf } from "./rpc.ts";

type Phase =
  | { readonly kind: "loading"; readonly share: number }
  | { readonly kind: "preparing" }
  | { readonly kind: "running" }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly trouble: Trouble };

/** One run of the worker, from its first frame to its last. */
interface Shoot<Frame> {
  /** The last frame's number, from 0. */
  readonly steps: number;
  /** The frame to show and to stay at, where not the last. */
  readonly stay?: number | undefined;
  /** Computes on a device and gives each frame to `take`; `prepare` says that graphs compile. */
  draw(
    device: string,
    signal: AbortSignal,
    to: { take(frame: Frame): void; prepare(): void },
  ): Promise<unknown>;
}

/** Frames per second when what is there already is shown again. */
const REPLAY = 24;

export class FrameRun<Frame> {
  phase = $state.raw<Phase>({ kind: "loading", share: 0 });
  /** How many frames there are, and how many there will be. */
  known = $state(0);
  total = $state(1);
  playing = $state(true);
  /** The frame to stay at, or to go on from; none follows the run. */
  target = $state<number>();
  #frames: Frame[] = [];
  #device = "cpu";
  #loaded: Promise<void> | undefined;
  #current: AbortController | undefined;
  #closed = false;
  readonly #clock = setInterval(() => this.#tick(), 1000 / REPLAY);

  /** The frame that is shown, from 0. */
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

  /** Loads a model by the worker that `load` opens with so many threads. */
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

  /** Shows what `shoot` computes, once a model is loaded; the run before it is dropped. */
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
      // The GPU failed: the same on the processor, in the same worker.
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
  }
}
