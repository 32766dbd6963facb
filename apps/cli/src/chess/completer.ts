/** The options of `diffeo chess complete`, and the function that completes boards by them. */
import type { Command } from "commander";
import type { Model } from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { key } from "diffeo/random";
import {
  type Boards,
  type Completion,
  completeBoards,
  defaultCompletion,
  openBoards,
  SQUARES,
} from "diffeo-chess";
import type { Io } from "../shell/io.ts";
import { engineOf, type RunOptions, refuseBeside } from "../shell/options.ts";
import { stepping } from "../shell/progress.ts";
import type { AimOptions } from "./aim.ts";
import { ledBy } from "./draw.ts";
import type { OutputOptions } from "./output.ts";

/** The options of `diffeo chess complete`. */
export interface CompleteCommand extends AimOptions, OutputOptions, RunOptions {
  readonly count?: number;
  readonly method?: Completion | "particles";
  readonly particles: number;
  readonly resample?: number;
  readonly guidance?: number;
  readonly evaluate?: string;
  readonly hide: number;
  readonly json?: boolean;
}

/** Completes boards that are stored one after the other. */
type Complete = (partial: Uint8Array, completion: Completion, first?: number) => Promise<Boards>;

/** A function that completes boards as the options specify, with a progress bar. */
export async function completer(
  io: Io,
  model: Model,
  options: CompleteCommand,
): Promise<{ complete: Complete; dispose: () => Promise<void> }> {
  const { batch, seed, resample, guidance, frames, trace, w, steps } = options;
  const draw = await openBoards(model, engineOf(options));
  const complete: Complete = (partial, completion, first = 0) => {
    const batches = Math.ceil(partial.length / SQUARES / batch);
    return stepping(
      io,
      options,
      steps * batches,
      `completing, ${completion}`,
      ({ signal, onStep }) =>
        completeBoards(draw, partial, {
          completion,
          first,
          key: key(seed),
          steps,
          driftScale: w,
          batch,
          // Replacement never repeats a step.
          resample: completion === "replacement" ? undefined : resample,
          guidance,
          ...ledBy(options),
          frames: trace === undefined ? undefined : frames,
          signal,
          onStep,
        }),
    );
  };
  return { complete, dispose: draw.dispose };
}

/** The method of completion. Options that the method does not use are errors. */
export function methodOf(
  model: Model,
  { method = defaultCompletion(model) }: CompleteCommand,
  command: Command,
): Completion {
  if (method === "particles")
    fail(
      "usage",
      "--method particles completes a single position and cannot be evaluated",
      "give a FEN, or choose another --method",
    );
  refuseBeside(command, `--method ${method}`, ["particles"]);
  if (method !== "guided") refuseBeside(command, `--method ${method}`, ["guidance"]);
  if (method === "replacement") refuseBeside(command, `--method ${method}`, ["resample"]);
  return method;
}
