/** Warnings about chains, in sentences that say what to do. */
import { sumOfSquares } from "../host/index.ts";
import type { ChainSettings } from "./chain-settings.ts";
import type { Chain } from "./chain-state.ts";
import type { Summary } from "./diagnostics.ts";

/** The energy's Bayesian fraction of missing information: Σ(E_i − E_{i−1})²/Σ(E_i − Ē)². */
export function energyFraction({ energy }: Pick<Chain, "energy">): number {
  let steps = 0;
  for (let i = 1; i < energy.length; i++) steps += (energy[i] - energy[i - 1]) ** 2;
  return steps / sumOfSquares(energy);
}

const total = (chains: readonly Chain[], of: (chain: Chain) => number): number =>
  chains.reduce((sum, chain) => sum + of(chain), 0);

/**
 * Warnings about transitions.
 *
 * @param where the parameters' values at the first point where log p or its gradient was NaN,
 *   if there is one
 */
function transitionWarnings(
  chains: readonly Chain[],
  { maxDepth, method }: Pick<ChainSettings, "maxDepth" | "method">,
  where: string | undefined,
): string[] {
  const warnings: string[] = [];
  const draws = total(chains, ({ value }) => value.length);
  if (method === "ula")
    warnings.push(
      "unadjusted Langevin has a bias that depends on its step and that no number of draws " +
        "removes. Use mala or nuts for results.",
    );
  if (where !== undefined) {
    const times = total(chains, (chain) => chain.undefinedCount);
    warnings.push(
      `the log-density or its gradient was NaN ${times} times, first at ${where}. Such points ` +
        "are rejected. Look for the logarithm of a negative number, 0/0 or ∞ − ∞ there.",
    );
  }
  chains.forEach(({ restart }, c) => {
    if (restart)
      warnings.push(
        `chain ${c + 1} was restarted from chain ${restart.from + 1} after ${restart.done} ` +
          "transitions of the warm-up: the log-density was about " +
          `${restart.logDensity.toPrecision(4)} where it was, and ` +
          `${restart.logDensityThere.toPrecision(4)} where chain ${restart.from + 1} was. If ` +
          "this happens often, use narrower priors, or start at an approximation " +
          "(`--start pathfinder`, or `start` in the library).",
      );
  });
  const diverged = total(chains, (chain) => chain.diverged.reduce((a, b) => a + b, 0));
  if (diverged > 0)
    warnings.push(
      `${diverged} of ${draws} transitions diverged: parts of the posterior may never be ` +
        "visited. Use `centred: false` in hierarchies, or a larger target acceptance, such " +
        "as 0.95.",
    );
  const deep = total(chains, ({ depth }) => depth.filter((d) => d >= maxDepth).length);
  if (deep > 0)
    warnings.push(
      `${deep} of ${draws} trajectories were cut off at 2^${maxDepth} steps: draws are correct ` +
        "but expensive. Use the low-rank metric, scale the data, or centre predictors.",
    );
  chains.forEach((chain, c) => {
    const share = energyFraction(chain);
    if (share < 0.3)
      warnings.push(
        `chain ${c + 1} moves slowly through the energies (E-BFMI ${share.toFixed(2)}): its ` +
          "tails are not reliable. Increase the warm-up, or reparameterise the model.",
      );
  });
  return warnings;
}

/**
 * Warnings about draws.
 *
 * @param flat parameters without a prior
 */
function drawWarnings(
  chains: number,
  summary: Readonly<Record<string, Summary>>,
  flat: readonly string[],
): string[] {
  const warnings: string[] = [];
  const rows = Object.entries(summary);
  const unmixed = rows.filter(([, { rhat }]) => rhat > 1.01).map(([name]) => name);
  if (unmixed.length > 0)
    warnings.push(
      `R̂ is above 1.01 for ${listed(unmixed)}: ` +
        `${chains > 1 ? "the chains" : "the halves of the chain"} do not agree. ` +
        "Increase the draws or the warm-up, or look for several modes.",
    );
  const loose = flat.filter((name) =>
    rows.some(([row, { rhat }]) => rhat > 1.1 && (row === name || row.startsWith(`${name}[`))),
  );
  if (loose.length > 0)
    warnings.push(
      `${listed(loose)} ${loose.length > 1 ? "have" : "has"} a flat density and the chains ` +
        "disagree: the posterior may be improper, so that chains drift away. Give a prior, such " +
        "as normal(0, 10), or remove parameters that the data do not identify.",
    );
  // A hundred per chain, 400 at most.
  const enough = 100 * Math.min(4, chains);
  const few = rows
    .filter(([, { bulkEss, tailEss }]) => Math.min(bulkEss, tailEss) < enough)
    .map(([name]) => name);
  if (few.length > 0)
    warnings.push(
      `fewer than ${enough} effective draws for ${listed(few)}: means and quantiles are ` +
        "imprecise. Increase the draws.",
    );
  const frozen = rows.filter(([, { rhat }]) => Number.isNaN(rhat)).map(([name]) => name);
  if (frozen.length > 0)
    warnings.push(`${listed(frozen)} is constant or not finite, so R̂ is undefined.`);
  return warnings;
}

/**
 * @param where the parameters' values at the first point where log p or its gradient was NaN,
 *   if there is one
 * @param flat parameters without a prior
 */
export const warningsOf = (
  chains: readonly Chain[],
  summary: Readonly<Record<string, Summary>>,
  settings: Pick<ChainSettings, "maxDepth" | "method">,
  where?: string,
  flat: readonly string[] = [],
): string[] => [
  ...transitionWarnings(chains, settings, where),
  ...drawWarnings(chains.length, summary, flat),
];

const SHOWN = 5;

const listed = (names: readonly string[]): string =>
  names.length <= SHOWN
    ? names.join(", ")
    : `${names.slice(0, SHOWN).join(", ")} and ${names.length - SHOWN} more`;
