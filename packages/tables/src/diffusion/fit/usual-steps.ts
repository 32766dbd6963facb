/** How many steps a network is trained for by default. */

import type { NetworkKind } from "../network/index.ts";
import { BATCH } from "./loss.ts";

/** Passes over the rows of training; in 400, a network of masked cells would memorise rows. */
const [PASSES, MASKED_PASSES] = [400, 150];

/**
 * Rows of a batch of masked cells: with 512, trees separated synthetic rows of Magic from real ones
 * more often after as many passes (scores of .808 and .842).
 */
export const MASKED_BATCH = 256;

/** Steps for so many rows of training: some passes, within bounds. */
export const usualSteps = (rows: number, network: NetworkKind = "diffusion"): number =>
  network === "masked"
    ? Math.min(40_000, Math.max(1000, Math.ceil((MASKED_PASSES * rows) / MASKED_BATCH)))
    : Math.min(20_000, Math.max(2000, Math.ceil((PASSES * rows) / BATCH)));
