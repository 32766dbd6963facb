/** The options of a chain, their defaults and their checks. */
import { fail } from "../graph/index.ts";
import { type ChainMethodName, type MethodSettings, methods } from "./method.ts";
import { type MetricName, metrics } from "./metric.ts";

/** Options of a chain: its length, its sampler and the adaptation. */
export interface ChainOptions extends Partial<MethodSettings> {
  /** Draws per chain, after the warm-up. Default 1,000. */
  readonly draws?: number;
  /** Transitions per chain before the draws, in which ε and M⁻¹ are adapted. Default 1,000. */
  readonly warmup?: number;
  /**
   * The sampler. Default `nuts`; the others are for comparison. `ula` (unadjusted Langevin) has a
   * bias that no number of draws removes.
   */
  readonly method?: ChainMethodName;
  /**
   * The form in which M⁻¹ is adapted: `diagonal` (default), `dense`, `low-rank`, or `unit`, the
   * unit matrix, which is not adapted.
   */
  readonly metric?: MetricName;
  /**
   * The mean acceptance that ε is adapted to: a larger one means smaller steps and fewer
   * divergences. Default 0.8 for `nuts` and `hmc`, 0.574 for `mala`, 0.95 for `ula`.
   */
  readonly targetAcceptance?: number;
  /**
   * Whether chains that are in a region without mass halfway through the warm-up continue from
   * another chain's position (restart.ts). Default true.
   */
  readonly restart?: boolean;
  /** The initial ε, which is kept if there is no warm-up. Default: found by trying single steps. */
  readonly stepSize?: number;
}

/** The options with their defaults; only `stepSize` may be undefined. */
export type ChainSettings = Required<Omit<ChainOptions, "stepSize">> &
  Pick<ChainOptions, "stepSize">;

/** Fills in the defaults and checks the options. */
export function settingsOf(options: ChainOptions): ChainSettings {
  const {
    draws = 1000,
    warmup = 1000,
    method = "nuts",
    metric = "diagonal",
    maxDepth = 10,
    steps = 10,
    restart = true,
  } = options;
  if (!Object.hasOwn(methods, method))
    fail(
      "usage",
      `unknown \`method\` "${method}"`,
      `use one of ${Object.keys(methods).join(", ")}`,
    );
  if (!metrics.includes(metric))
    fail("usage", `unknown \`metric\` "${metric}"`, `use one of ${metrics.join(", ")}`);
  const { targetAcceptance = methods[method].targetAcceptance, stepSize } = options;
  for (const [name, value, least] of [
    ["draws", draws, 1],
    ["warmup", warmup, 0],
    ["maxDepth", maxDepth, 1],
    ["steps", steps, 1],
  ] as const)
    if (!(Number.isSafeInteger(value) && value >= least))
      fail("usage", `\`${name}\` is ${value}`, `give an integer, at least ${least}`);
  if (!(targetAcceptance > 0 && targetAcceptance < 1))
    fail(
      "usage",
      `\`targetAcceptance\` is ${targetAcceptance}`,
      "give a number between 0 and 1, such as 0.95",
    );
  if (stepSize !== undefined && !(stepSize > 0 && Number.isFinite(stepSize)))
    fail("usage", `\`stepSize\` is ${stepSize}`, "give a positive step size, or leave it out");
  return {
    draws,
    warmup,
    method,
    metric,
    maxDepth,
    steps,
    restart,
    targetAcceptance,
    stepSize,
  };
}
