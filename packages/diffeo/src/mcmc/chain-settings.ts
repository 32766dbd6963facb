/** How a chain is drawn: options, their defaults, and what of them is refused. */
import { fail } from "../graph/index.ts";
import { type ChainMethodName, type MethodSettings, methods } from "./method.ts";
import { type MetricName, metrics } from "./metric.ts";

/** How a chain is drawn. */
export interface ChainOptions extends Partial<MethodSettings> {
  /** Draws of every chain that count. Default 1,000. */
  readonly draws?: number;
  /** Transitions before them, in which ε and M⁻¹ are learned. Default 1,000. */
  readonly warmup?: number;
  /**
   * Default nuts. The others are for comparison: `ula`, unadjusted Langevin, has a bias that no number of draws
   * removes.
   */
  readonly method?: ChainMethodName;
  /** Whether M⁻¹ is learned as a full matrix, as a diagonal (default), or is the unit matrix. */
  readonly metric?: MetricName;
  /**
   * The mean acceptance that ε is adapted to: a larger one means smaller steps and fewer divergences. Default
   * 0.8 for nuts and hmc.
   */
  readonly targetAcceptance?: number;
  /**
   * Whether chains that the warm-up left in a region without mass go on from the place of another
   * chain (restart.ts). Default true.
   */
  readonly restart?: boolean;
  /** ε to begin with, kept as it is where there is no warm-up. Default: looked for. */
  readonly stepSize?: number;
}

/** The same with nothing left open but ε. */
export type ChainSettings = Required<Omit<ChainOptions, "stepSize">> &
  Pick<ChainOptions, "stepSize">;

/** The settings with every default in its place. */
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
      `there is no \`method\` "${method}"`,
      `use one of ${Object.keys(methods).join(", ")}`,
    );
  if (!metrics.includes(metric))
    fail("usage", `there is no \`metric\` "${metric}"`, `use one of ${metrics.join(", ")}`);
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
