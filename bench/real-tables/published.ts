/**
 * Published results on real tables: TabDiff and TabSyn as measured by TabPC (arXiv 2603.23016), and
 * the sets of ForestDiffusion (AISTATS 2024).
 */

export const mixedSets = ["adult", "shoppers", "magic"] as const;
export type MixedName = (typeof mixedSets)[number];

export interface MixedRow {
  readonly method: string;
  readonly trees: number;
  readonly shape?: number;
  readonly trend?: number;
  readonly betaRecall?: number;
  readonly useful?: number;
  /** Seconds of training. */
  readonly seconds?: number;
}

export const publishedMixed: Readonly<Record<MixedName, readonly MixedRow[]>> = {
  adult: [
    {
      method: "TabDiff",
      ...{ trees: 0.841, shape: 0.993, trend: 0.985, betaRecall: 0.526, useful: 0.913 },
      seconds: 11_605,
    },
    {
      method: "TabSyn",
      ...{ trees: 0.794, shape: 0.992, trend: 0.98, betaRecall: 0.48, useful: 0.91 },
      seconds: 3083,
    },
    {
      method: "TabPC",
      ...{ trees: 0.855, shape: 0.994, trend: 0.986, betaRecall: 0.5, useful: 0.916 },
      seconds: 272,
    },
    { method: "STaSy", trees: 0.343, shape: 0.892, trend: 0.853 },
    { method: "TVAE", trees: 0, shape: 0.762, trend: 0.666 },
    { method: "CTGAN", trees: 0, shape: 0.809, trend: 0.758 },
  ],
  shoppers: [
    {
      method: "TabDiff",
      ...{ trees: 0.736, shape: 0.985, trend: 0.981, betaRecall: 0.511, useful: 0.917 },
      seconds: 10_321,
    },
    {
      method: "TabSyn",
      ...{ trees: 0.655, shape: 0.985, trend: 0.977, betaRecall: 0.479, useful: 0.914 },
      seconds: 2441,
    },
    {
      method: "TabPC",
      ...{ trees: 0.894, shape: 0.991, trend: 0.982, betaRecall: 0.5, useful: 0.897 },
      seconds: 51,
    },
    { method: "STaSy", trees: 0.228, shape: 0.865, trend: 0.875 },
    { method: "TVAE", trees: 0, shape: 0.751, trend: 0.793 },
    { method: "CTGAN", trees: 0, shape: 0.741, trend: 0.755 },
  ],
  magic: [
    {
      method: "TabDiff",
      ...{ trees: 0.773, shape: 0.992, trend: 0.992, betaRecall: 0.48, useful: 0.936 },
      seconds: 11_643,
    },
    {
      method: "TabSyn",
      ...{ trees: 0.76, shape: 0.99, trend: 0.992, betaRecall: 0.478, useful: 0.937 },
      seconds: 2271,
    },
    {
      method: "TabPC",
      ...{ trees: 0.86, shape: 0.99, trend: 0.983, betaRecall: 0.505, useful: 0.932 },
      seconds: 39,
    },
    { method: "STaSy", trees: 0.522, shape: 0.882, trend: 0.94 },
    { method: "TVAE", trees: 0.298, shape: 0.954, trend: 0.953 },
    { method: "CTGAN", trees: 0.103, shape: 0.944, trend: 0.945 },
  ],
};

export interface SmallRow {
  /** W_test and coverage of test rows. */
  readonly oracle: readonly [number | null, number];
  readonly forestFlow: readonly [number | null, number];
  /** MinMAE and AvgMAE. */
  readonly missForest: readonly [number, number];
  readonly miceforest: readonly [number, number];
}

const row = (
  oracle: SmallRow["oracle"],
  forestFlow: SmallRow["forestFlow"],
  missForest: SmallRow["missForest"],
  miceforest: SmallRow["miceforest"],
): SmallRow => ({ oracle, forestFlow, missForest, miceforest });

export const publishedSmall = {
  iris: row([0.236, 0.93], [0.328, 0.93], [0.061, 0.072], [0.045, 0.082]),
  wine: row([1.44, 0.94], [1.421, 0.95], [0.095, 0.106], [0.079, 0.112]),
  parkinsons: row([1.705, 0.98], [1.674, 0.95], [0.045, 0.051], [0.038, 0.057]),
  climate_model_crashes: row([3.879, 0.95], [3.706, 0.98], [0.242, 0.261], [0.229, 0.296]),
  concrete_compression: row([0.485, 0.96], [0.542, 0.89], [0.046, 0.061], [0.034, 0.073]),
  concrete_slump: row([1.1, 0.91], [1.171, 0.89], [0.136, 0.158], [0.097, 0.161]),
  congress: row([2.4, 0.93], [3.671, 0.35], [0.222, 0.283], [0.169, 0.294]),
  car: row([1.102, 0.33], [1.002, 0.62], [0.583, 0.706], [0.345, 0.69]),
  bean: row([null, 0.96], [null, 0.96], [0.011, 0.013], [0.008, 0.018]),
  glass: row([0.631, 0.96], [0.683, 0.92], [0.058, 0.068], [0.046, 0.079]),
  ecoli: row([0.401, 0.98], [0.449, 0.96], [0.064, 0.076], [0.056, 0.097]),
  airfoil_self_noise: row([0.241, 0.96], [0.256, 0.94], [0.064, 0.084], [0.034, 0.104]),
  yeast: row([0.318, 0.95], [0.339, 0.94], [0.053, 0.063], [0.039, 0.075]),
} as const satisfies Readonly<Record<string, SmallRow>>;

export type SmallName = keyof typeof publishedSmall;
export const smallSets = Object.keys(publishedSmall) as readonly SmallName[];
