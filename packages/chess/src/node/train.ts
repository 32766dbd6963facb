/**
 * A training run on boards in its folder, from its newest checkpoint to its last step. The folder
 * also contains the model with averaged weights, and sheets of sampled boards.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Model, modelOf, type TrainDenoiserOptions, trainDenoiser } from "diffeo/categorical";
import { DiffeoError, fail } from "diffeo/graph";
import { parameterCount } from "diffeo/model";
import { type RunConfig, RunFolder, saveModel, writeFileAtomic } from "diffeo/node";
import { fold } from "diffeo/random";
import { type Checkpoint, stateOf } from "diffeo/train";
import type { Positions } from "../board/position.ts";
import { positionGrids } from "../diffusion/encoding.ts";
import { sampleBoards } from "../diffusion/sample.ts";
import { boardPictures } from "../picture/pictures.ts";
import { sheetSvg } from "../picture/svg.ts";

/** The settings of a run. */
export interface BoardRun
  extends Pick<
    TrainDenoiserOptions,
    "batch" | "key" | "focus" | "schedule" | "step" | "saveEvery" | "signal" | "seconds" | "onStep"
  > {
  readonly model: Model;
  readonly positions: Positions;
  /** The folder of the run. */
  readonly out: string;
  /**
   * The settings that determine the numbers of the run; a run can only be continued with the same
   * ones.
   */
  readonly config: RunConfig;
  /** Whether to continue a run or to start one. */
  readonly resume: boolean;
  /** Steps between sheets of boards, 0 for none. */
  readonly samplesEvery: number;
  /** Called with the step that the run continues from. */
  readonly onStart?: (step: number) => void;
  readonly onReport?: TrainDenoiserOptions["onReport"];
  /** Called if the model cannot sample boards yet; training continues. */
  readonly onNoBoards?: (step: number, why: DiffeoError) => void;
}

/** Boards per sheet, and the steps per board. */
const SHEET = { count: 8, steps: 50 };

/** The file of a run that holds the model with averaged weights. */
export const BOARD_MODEL = "model.safetensors";

/** Samples boards of the current model after a step, and draws them. */
async function drawSheet(path: string, model: Model, step: number, run: BoardRun): Promise<void> {
  const { key, signal, onNoBoards } = run;
  const { device, threads } = run.step ?? {};
  try {
    const boardKey = fold(key, "samples");
    const { positions } = await sampleBoards(model, {
      ...SHEET,
      key: boardKey,
      signal,
      device,
      threads,
    });
    const title = `After ${step} steps of training`;
    await writeFileAtomic(path, sheetSvg(boardPictures(positions), { columns: 4, title }));
  } catch (error) {
    if (signal?.aborted) return;
    if (!(error instanceof DiffeoError && ["numerical", "device"].includes(error.kind)))
      throw error;
    onNoBoards?.(step, error);
  }
}

/** Stores the model with averaged weights, and a sheet of its boards if one is due. */
async function keepModel(run: BoardRun, ema: Float32Array, step: number): Promise<void> {
  const { model, out, samplesEvery, schedule } = run;
  const averaged = modelOf(model.spec, ema);
  await saveModel(join(out, BOARD_MODEL), averaged);
  if (samplesEvery === 0 || (step % samplesEvery !== 0 && step !== schedule.steps)) return;
  const path = join(out, `samples-${String(step).padStart(6, "0")}.svg`);
  if (!existsSync(path)) await drawSheet(path, averaged, step, run);
}

/**
 * With a rate that falls over the last steps, a run can be extended until the fall begins; after
 * that it must end at the step it falls to.
 */
function requireTurn({ step, metadata }: Checkpoint, { steps, fall = 0 }: BoardRun["schedule"]) {
  const falls = Number(metadata.falls ?? steps);
  const level = Math.min(falls, steps) - fall;
  if (falls === steps || step <= level) return;
  fail(
    "usage",
    `at step ${step} the run, whose rate falls for ${fall} steps, cannot be changed from ` +
      "ending at step " +
      `${falls} to ending at step ${steps}`,
    step > falls - fall
      ? `continue with \`steps\` ${falls}, or start another run from the model of this one`
      : `set \`steps\` to ${step + fall} or more`,
  );
}

/** Trains until the last step, the time limit or an interruption. Returns the step reached. */
export async function trainBoards(run: BoardRun): Promise<number> {
  const { model, positions, out, config, schedule, resume } = run;
  const folder = await (resume ? RunFolder.open(out, config) : RunFolder.create(out, config));
  const checkpoint = resume ? await folder.latest() : undefined;
  if (checkpoint) requireTurn(checkpoint, schedule);
  const start = checkpoint && {
    state: stateOf(
      checkpoint,
      parameterCount(model.parameters),
      join(out, `step-${checkpoint.step}`),
    ),
    step: checkpoint.step,
  };
  run.onStart?.(start?.step ?? 0);
  // A process that was killed may have left a checkpoint without its model and its sheet.
  if (start) await keepModel(run, start.state.ema.data as Float32Array, start.step);
  const { batch, key, focus, step, saveEvery, signal, seconds, onStep, onReport } = run;
  const { step: reached } = await trainDenoiser(model, positionGrids(positions), {
    batch,
    key,
    focus,
    schedule,
    step,
    start,
    saveEvery,
    signal,
    seconds,
    onStep,
    onReport,
    reportEvery: Math.min(50, schedule.steps),
    store: folder,
    metadata: {
      format: "diffeo-checkpoint-1",
      ...(schedule.fall !== undefined && { falls: String(schedule.steps) }),
    },
    onSave: ({ ema }, s) => keepModel(run, ema.data as Float32Array, s),
  });
  return reached;
}
