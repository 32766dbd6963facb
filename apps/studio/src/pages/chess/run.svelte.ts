/**
 * A run of the page: the model, the frames, the quantities computed from each frame, and a worker
 * that can be paused and stepped.
 */
import { FrameRun } from "../../shell/frame-run.svelte.ts";
import { type OpenWorker, openWorker } from "../../shell/rpc.ts";
import { type Frame, type Reading, readingOf, withKnown } from "./frames.ts";
import type { DrawRequest, Loaded } from "./tasks.ts";

/** The settings of a run, without the device. */
export type RunRequest = Omit<DrawRequest, "device">;

type Tasks = typeof import("./tasks.ts");
export type Source = { readonly url: string } | { readonly bytes: Uint8Array };

export class Run extends FrameRun<Frame> {
  model = $state.raw<Loaded>();
  readings = $state.raw<readonly Reading[]>([]);
  #worker: OpenWorker<Tasks> | undefined;
  #last: RunRequest | undefined;

  /** Loads a model. */
  load(source: Source): Promise<void> {
    return this.open(async (threads, onReport) => {
      this.#worker ??= openWorker<Tasks>("chess", threads);
      this.model = await this.#worker.call("load", source, { onReport });
    });
  }

  /**
   * Samples boards; stops the previous run.
   * @param stay the frame to show and stay at. Default: follow the run
   */
  async start(request: RunRequest, stay?: number): Promise<void> {
    this.#last = request;
    await this.shoot(() => this.model !== undefined, {
      steps: request.steps,
      stay,
      draw: async (device, signal, { take, prepare }) => {
        const readings: Reading[] = [];
        await this.#worker?.call(
          "draw",
          { ...request, device },
          {
            signal,
            onReport: (update) => {
              if (signal.aborted) return;
              if (update.kind !== "frame") return prepare();
              const frame = withKnown(update, request.known);
              readings.push(readingOf(frame, request.known));
              take(frame);
              this.readings = readings.slice();
            },
          },
        );
      },
    });
  }

  /** Compiles the graphs that such a call needs in advance. */
  async prepare(request: RunRequest): Promise<void> {
    if (this.phase.kind === "done")
      await this.#worker
        ?.call("prepare", { ...request, device: this.device })
        .catch(() => undefined);
  }

  /** Repeats the last run. */
  again(): void {
    if (this.#last) void this.start(this.#last);
  }

  override toggle(): void {
    super.toggle();
    if (this.phase.kind === "running")
      void this.#worker?.call("pace", { steps: this.playing ? undefined : 0 });
  }

  /** Shows a frame and stays there; one past the last requests the next step of the run. */
  override seek(frame: number): void {
    if (this.playing) this.toggle();
    const running = this.phase.kind === "running";
    if (frame >= this.known && running) void this.#worker?.call("pace", { steps: 1 });
    this.target = Math.min(running ? this.known : this.known - 1, Math.max(0, frame));
  }

  override close(): void {
    super.close();
    this.#worker?.close();
  }
}
