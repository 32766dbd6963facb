/** The options of a fit, their defaults, and the errors of wrong ones. */
import { fail } from "diffeo/graph";
import { type Objective, type ObjectiveName, objectives } from "diffeo/matching";
import type { DkefOptions } from "diffeo/model";
import type { Fitted } from "./fitted.ts";

/** Options for the fit of a density. */
export interface FitOptions {
  /** One of the five by name, or a custom objective. */
  readonly loss: ObjectiveName | Objective;
  readonly seed: number;
  /** L. Default 200. */
  readonly inducing?: number;
  readonly model?: DkefOptions;
  /** Points per step, half of them for α. Default 200. */
  readonly batch?: number;
  /** Training points that give α for validation. Default 1,000. */
  readonly points?: number;
  /** Default 500 epochs of ⌊N/batch⌋ steps. */
  readonly epochs?: number;
  /** Stop after this many steps without a better validation loss. Default 200. */
  readonly patience?: number;
  /** Continue for this many steps after stopping, only for the curves. Default 0. */
  readonly leastSteps?: number;
  /** Default 1e-2, with gradients clipped at a norm of 100. */
  readonly rate?: number;
  readonly clip?: number;
  /** The final adjustment of λ alone: 1,000 steps with rate 1e-3. */
  readonly ridgeSteps?: number;
  readonly ridgeRate?: number;
  /** Also finish the state chosen by exact score matching. Default false. */
  readonly both?: boolean;
  /** Called after every step; the fit waits for it. */
  readonly onStep?: (progress: DensityFitProgress) => Promise<void> | void;
  readonly signal?: AbortSignal;
}

/** The progress of a fit. */
export interface DensityFitProgress {
  readonly step: number;
  readonly most: number;
  readonly validation: number;
  readonly best: number;
  /** Exact score matching on the validation set, at the steps that evaluate it. */
  readonly exact?: number;
  /** The density at this step, with the α of the validation. */
  readonly fitted: () => Fitted;
}

/** The default settings of a fit. */
export const protocol = {
  inducing: 200,
  batch: 200,
  points: 1000,
  epochs: 500,
  patience: 200,
  leastSteps: 0,
  rate: 1e-2,
  clip: 100,
  ridgeSteps: 1000,
  ridgeRate: 1e-3,
} as const satisfies Partial<FitOptions>;

export type Settings = FitOptions & { readonly [name in keyof typeof protocol]: number };

const LEAST: Partial<Record<keyof typeof protocol, number>> = { inducing: 1, batch: 2, points: 1 };

/** The options merged with the protocol, for a table with this many training rows. */
export function settingsOf(options: FitOptions, rows: number): Settings {
  const given = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  );
  const settings = { ...protocol, ...given } as Settings;
  for (const name of Object.keys(protocol) as (keyof typeof protocol)[]) {
    const least = LEAST[name] ?? 0;
    if (!(settings[name] >= least))
      fail("usage", `fitDensity: ${name} is ${settings[name]}`, `give at least ${least}`);
  }
  const { inducing, batch } = settings;
  if (batch % 2 !== 0)
    fail(
      "usage",
      `a batch of ${batch} cannot be halved, for α and for the loss`,
      "give an even batch",
    );
  if (rows < inducing)
    fail(
      "data",
      `${rows} training rows are fewer than the ${inducing} inducing points`,
      "give more rows, or fewer inducing points",
    );
  if (rows < batch)
    fail(
      "data",
      `${rows} training rows are fewer than a batch of ${batch}`,
      "give more rows, or a smaller batch",
    );
  return settings;
}

export function objectiveOf(loss: ObjectiveName | Objective): Objective {
  if (typeof loss !== "string") return loss;
  if (!Object.hasOwn(objectives, loss))
    fail(
      "usage",
      `unknown loss "${loss}"`,
      `use one of ${Object.keys(objectives).join(", ")}, or an objective`,
    );
  return objectives[loss]();
}
