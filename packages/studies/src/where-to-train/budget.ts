/** What all arms of where-to-train have in common: the network's size, training, and measures. */

/** The residual network. */
export const WIDTH = 64;
export const BLOCKS = 2;

export const TRAINING_POINTS = 25_600;
export const BATCH = 256;
export const TRAINING_STEPS = 2000;

export const SAMPLES = 2000;
/** Of the sampler. */
export const STEPS = 250;
/** Points whose likelihood is measured. */
export const HELD_OUT = 256;

/** Measures run in float64. */
export const engine = { device: "wasm", type: "float64" } as const;
