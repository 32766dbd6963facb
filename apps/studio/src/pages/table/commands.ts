/** The commands that fit the model of the page and sample the same rows. */
import type { Given } from "./shapes.ts";

/** A word of a command line, in quotes if a shell needs them. */
const shellWord = (word: string): string =>
  /^[\w./:=+,@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

interface CommandSettings {
  /** The file of the table; absent for a model that was opened. */
  readonly file: string | undefined;
  /** The name of files to write, without ending. */
  readonly name: string;
  readonly rules: readonly string[];
  readonly seed: number;
  /** Minutes, or "steps". */
  readonly ends: string;
  readonly steps: number;
  /** Whether to train the network for given cells. */
  readonly isGiven: boolean;
  /** The seed of the samples. */
  readonly draw: number;
  readonly evaluations: number;
  readonly given: Given;
}

const fitWords = ({ file, name, rules, seed, ends, steps, isGiven }: CommandSettings): string[] =>
  file === undefined
    ? []
    : [
        ...["diffeo", "table", "fit", file],
        ...rules.flatMap((rule) => ["--column", rule]),
        ...(ends === "steps" ? ["--steps", String(steps)] : ["--minutes", ends]),
        ...(seed === 0 ? [] : ["--seed", String(seed)]),
        ...(isGiven ? [] : ["--no-given"]),
        ...["--out", `${name}.safetensors`],
      ];

const sampleWords = ({ name, draw, evaluations, given }: CommandSettings): string[] => [
  ...["diffeo", "table", "sample", "--model", `${name}.safetensors`],
  ...(draw === 0 ? [] : ["--seed", String(draw)]),
  ...(evaluations === 50 ? [] : ["--evaluations", String(evaluations)]),
  ...Object.entries(given).flatMap(([column, cell]) => ["--given", `${column}=${cell}`]),
];

export const commandsFor = (settings: CommandSettings): string[] =>
  [fitWords(settings), sampleWords(settings)]
    .filter((words) => words.length > 0)
    .map((words) => words.map(shellWord).join(" "));
