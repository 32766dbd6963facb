/**
 * Tables with names. The three of the study come from the UCI Machine Learning Repository (CC BY
 * 4.0).
 */
import type { PrepareOptions } from "./prepare.ts";
import { type SyntheticName, synthetics } from "./synthetic.ts";

export interface UciSet {
  readonly file: string;
  readonly address: string;
  readonly sha256: string;
  readonly drop: readonly string[];
  readonly prune?: number;
  readonly options: PrepareOptions;
}

const UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases";

/** The UCI datasets by name: their file, its digest, and their preparation. */
export const uciSets = {
  "red-wine": {
    file: "winequality-red.csv",
    address: `${UCI}/wine-quality/winequality-red.csv`,
    sha256: "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
    drop: ["quality"],
    options: { dequantise: true },
  },
  "white-wine": {
    file: "winequality-white.csv",
    address: `${UCI}/wine-quality/winequality-white.csv`,
    sha256: "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
    drop: ["quality"],
    options: { dequantise: true },
  },
  parkinsons: {
    file: "parkinsons_updrs.data",
    address: `${UCI}/parkinsons/telemonitoring/parkinsons_updrs.data`,
    sha256: "f2c7d5025dec4e92e7feae367a5f7ccf58789a10ac6b54bdf15976c599f9dd39",
    drop: ["subject#", "age", "sex"],
    prune: 0.98,
    options: {},
  },
} as const satisfies Readonly<Record<string, UciSet>>;

/** The name of a UCI dataset. */
export type UciName = keyof typeof uciSets;
/** The name of a dataset of the study. */
export type DatasetName = UciName | SyntheticName;

/** Whether a name is that of a UCI dataset. */
export const isUci = (name: string): name is UciName => Object.hasOwn(uciSets, name);
/** Whether a name is that of a synthetic dataset. */
export const isSynthetic = (name: string): name is SyntheticName => Object.hasOwn(synthetics, name);

/** The names of tables, which can be given instead of the path of a file. */
export const tableNames: readonly string[] = [...Object.keys(uciSets), ...Object.keys(synthetics)];

/** The default preparation of a table by name. */
export const preparationOf = (data: string): PrepareOptions =>
  isUci(data) ? uciSets[data].options : {};
