/** A run of the page: the shipped model, and grids sampled around clues. */
import sudoku from "diffeo-models/sudoku.safetensors?url";
import { FrameRun } from "../../shell/frame-run.svelte.ts";
import { type OpenWorker, openWorker } from "../../shell/rpc.ts";
import { type Frame, SITES } from "./grid.ts";
import type { DrawRequest } from "./tasks.ts";

/** The settings of a run, without the device. */
export type RunRequest = Omit<DrawRequest, "device">;

type Tasks = typeof import("./tasks.ts");

/** A frame with the clues set to certainty: before the end of the run they are noised too. */
function withClues({ t, mixture }: Frame, clues: readonly number[]): Frame {
  const shown = mixture.slice();
  for (let at = 0; at < shown.length; at += 9) {
    const digit = clues[(at / 9) % SITES];
    if (digit) shown.fill(0, at, at + 9)[at + digit - 1] = 255;
  }
  return { t, mixture: shown };
}

export class Run extends FrameRun<Frame> {
  parameters = $state(0);
  #worker: OpenWorker<Tasks> | undefined;

  constructor() {
    super();
    void this.open(async (threads, onReport) => {
      this.#worker = openWorker<Tasks>("sudoku", threads);
      const url = new URL(sudoku, document.baseURI).href;
      this.parameters = (await this.#worker.call("load", { url }, { onReport })).parameters;
    });
  }

  /** Samples grids; stops the previous run. */
  async start(request: RunRequest): Promise<void> {
    await this.shoot(() => this.parameters > 0, {
      steps: request.steps,
      draw: async (device, signal, { take, prepare }) => {
        this.known = 0;
        await this.#worker?.call(
          "draw",
          { ...request, device },
          {
            signal,
            onReport: (update) => {
              if (update.kind === "preparing") prepare();
              else take(withClues(update, request.clues));
            },
          },
        );
      },
    });
  }

  override close(): void {
    super.close();
    this.#worker?.close();
  }
}
