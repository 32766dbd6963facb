/**
 * The page of a study of w, made from its records: what was run, the table, and whether the number
 * of pieces rises with w.
 */
import { STUDY_SOLVERS, type StudyRecord, type StudySolver } from "./study.ts";

export const SOLVER_NAMES: Readonly<Record<StudySolver, string>> = {
  domainPreserving: "domain-preserving",
  eulerMaruyama: "Euler–Maruyama on the simplex, clamped",
};

export const ofSolver = (records: readonly StudyRecord[], method: StudySolver): StudyRecord[] =>
  records.filter((r) => r.method === method);

/** Pairs of neighbouring w at which the mean number of pieces does not rise. */
export const fallsOf = (records: readonly StudyRecord[]): [number, number][] =>
  records
    .toSorted((a, b) => a.w - b.w)
    .flatMap((r, i, all): [number, number][] =>
      i > 0 && !(r.pieces.mean > all[i - 1].pieces.mean) ? [[all[i - 1].w, r.w]] : [],
    );

const cells = ({
  w,
  pieces,
  oneKingEach,
  feasibleMaterial,
  legal,
  exits,
  count,
  steps,
}: StudyRecord): string[] => [
  String(w),
  `${pieces.mean.toFixed(1)} (${pieces.sd.toFixed(1)})`,
  ...[oneKingEach, feasibleMaterial, legal, exits / (count * steps)].map((share) =>
    share.toFixed(3),
  ),
];

const HEAD = [
  "w",
  "pieces (SD)",
  "one king each",
  "feasible material",
  "strictly legal",
  "steps off the simplex",
];

const markdown = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `| ${row.join(" | ")} |`).join("\n");

function section(records: readonly StudyRecord[], method: StudySolver): string[] {
  const own = ofSolver(records, method);
  if (own.length === 0) return [];
  const falls = fallsOf(own);
  const distinct = (of: (r: StudyRecord) => number): string => [...new Set(own.map(of))].join(", ");
  const verdict =
    falls.length === 0
      ? "Mean pieces rise with w throughout."
      : `Mean pieces do not rise ${falls.map(([a, b]) => `from w = ${a} to ${b}`).join(", ")}.`;
  return [
    `## ${SOLVER_NAMES[method]}, ${distinct((r) => r.steps)} steps`,
    markdown([HEAD, HEAD.map(() => "---"), ...own.map(cells)]),
    verdict,
  ];
}

/** The page as Markdown; `figure` is the path of the picture. */
export function studyPage(records: readonly StudyRecord[], figure: string): string {
  const [{ count, seed, model }] = records;
  const error = (0.5 / Math.sqrt(count)).toFixed(3);
  return `${[
    "# w against pieces and legality",
    "The drift of the reverse process on the simplex is scaled by w. The process is " +
      "integrated in two " +
      `ways: ${count} unrepaired boards for each w, seed ${seed}, model ${model} (SHA-256). The ` +
      `standard error of a share is at most ${error}.`,
    `![Mean pieces and legal boards by w](${figure})`,
    ...STUDY_SOLVERS.flatMap((method) => section(records, method)),
    "Made by `diffeo chess study`; `diffeo chess report` rebuilds this page and the figure from " +
      "the records in `runs`.",
  ].join("\n\n")}\n`;
}
