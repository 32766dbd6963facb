/**
 * The table of a study, from its records: means with their spread, and differences paired by seed.
 */

import { mean, quantile, sumOfSquares } from "diffeo/host";
import { type ObjectiveName, objectives } from "diffeo/matching";
import { ENOUGH_SAMPLES, unitGaussianWith } from "../dkef/evaluate.ts";
import { likelihood, plainLikelihood } from "../measure/measure.ts";
import type { RunRecord } from "./study.ts";

const sd = (values: readonly number[]): number =>
  Math.sqrt(sumOfSquares(values) / Math.max(1, values.length - 1));

/** One number per run; undefined if a run does not have it. */
export type Measure = (record: RunRecord) => number | undefined;

/** Exact score matching on the validation set after this many steps. */
const exactAfter =
  (steps: number): Measure =>
  ({ curve }) =>
    curve.exact[steps / curve.every - 1];

interface Column {
  readonly title: string;
  readonly of: Measure;
  /** Whether larger values are better. */
  readonly up?: boolean;
}

const columns: readonly Column[] = [
  { title: "score matching", of: (r) => r.chosen.scoreMatching.mean },
  { title: "its median over points", of: (r) => r.chosen.scoreMatching.median },
  { title: "log-likelihood, annealed", of: (r) => likelihood(r.chosen), up: true },
  { title: "log-likelihood, plain", of: (r) => plainLikelihood(r.chosen), up: true },
  { title: "score matching, chosen by it", of: (r) => r.chosenByExact.scoreMatching.mean },
  {
    title: "log-likelihood, chosen by score matching",
    of: (r) => likelihood(r.chosenByExact),
    up: true,
  },
  { title: "validation score matching after 200 steps", of: exactAfter(200) },
  { title: "after 400", of: exactAfter(400) },
  { title: "after 600", of: exactAfter(600) },
];

/** Spikes reduce the likelihood of a density, which the plain normaliser does not detect. */
const SPIKE = 4;

/** Runs that are counted. */
const warnings: readonly { readonly title: string; readonly of: (record: RunRecord) => boolean }[] =
  [
    {
      title: "runs with less likelihood than a unit Gaussian",
      of: (r) => likelihood(r.chosen) < unitGaussianWith(r.n).logLikelihood,
    },
    {
      title:
        `runs with more than ${SPIKE} nats less by the annealed normaliser than by the plain ` +
        "one",
      of: ({ chosen }) =>
        (plainLikelihood(chosen) ?? Number.NEGATIVE_INFINITY) - likelihood(chosen) > SPIKE,
    },
  ];

/** The position of a loss in the paper's table of losses. */
export const placeOf = (loss: ObjectiveName): number => Object.keys(objectives).indexOf(loss);

/** The losses of records in this order. */
export const lossesOf = (records: readonly RunRecord[]): ObjectiveName[] =>
  [...new Set(records.map(({ loss }) => loss))].sort((a, b) => placeOf(a) - placeOf(b));

const PAIRS = [
  ["gssm-vr", "ssm-vr"],
  ["gssm", "ssm"],
  ["ssm-vr", "sm"],
  ["gssm-vr", "sm"],
] as const;

const ofLoss = (records: readonly RunRecord[], loss: string, of: Measure): number[] =>
  records.flatMap((r) => (r.loss === loss ? (of(r) ?? []) : []));

const show = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(1) : value.toFixed(2);
const withSpread = (v: readonly number[]): string =>
  v.length === 0 ? "–" : v.length === 1 ? show(v[0]) : `${show(mean(v))} ± ${show(sd(v))}`;

const markdown = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

function lossTable(records: readonly RunRecord[]): string {
  const present = lossesOf(records);
  return markdown(
    ["test set, mean ± sd over seeds", ...present],
    [
      ["runs", ...present.map((loss) => String(ofLoss(records, loss, (r) => r.seed).length))],
      ...columns.map(({ title, of }) => [
        title,
        ...present.map((loss) => withSpread(ofLoss(records, loss, of))),
      ]),
      [
        "log-likelihood, annealed: median over seeds",
        ...present.map((loss) =>
          show(
            quantile(
              ofLoss(records, loss, (r) => likelihood(r.chosen)),
              0.5,
            ),
          ),
        ),
      ],
      [
        "steps until stopped",
        ...present.map((loss) => withSpread(ofLoss(records, loss, (r) => r.stopped))),
      ],
      ...warnings.map(({ title, of }) => [
        title,
        ...present.map((loss) => String(records.filter((r) => r.loss === loss && of(r)).length)),
      ]),
      ...effectiveRows(records, present),
    ],
  );
}

/** Effective samples as minimum – median – maximum over the seeds. */
function effectiveRows(records: readonly RunRecord[], present: readonly string[]): string[][] {
  const range = (v: readonly number[]): string =>
    v.length === 0 ? "–" : [0, 0.5, 1].map((share) => quantile(v, share).toFixed(0)).join(" – ");
  const row = (title: string, of: Measure): string[] => [
    title,
    ...present.map((loss) => range(ofLoss(records, loss, of))),
  ];
  const draws = new Set(records.flatMap((r) => r.chosen.importance?.samples ?? []));
  return [
    row("effective samples, annealed", (r) => r.chosen.annealed.effectiveSamples),
    row(
      "effective samples, annealed, chosen by score matching",
      (r) => r.chosenByExact.annealed.effectiveSamples,
    ),
    row(
      "effective samples, plain (of " +
        `${[...draws].map((count) => count.toLocaleString("en")).join(" or ")})`,
      (r) => r.chosen.importance?.effectiveSamples,
    ),
  ];
}

/** a − b by seed: mean ± sd, median, and the number of pairs in which a is better. */
function pairCell(
  records: readonly RunRecord[],
  a: string,
  b: string,
  { of, up = false }: Column,
): string {
  const differences = records.flatMap((r) => {
    const other = records.find((s) => s.loss === b && s.seed === r.seed);
    const [x, y] = r.loss === a && other ? [of(r), of(other)] : [];
    return x === undefined || y === undefined ? [] : [x - y];
  });
  if (differences.length === 0) return "–";
  const wins = differences.filter((d) => (up ? d > 0 : d < 0)).length;
  return (
    `${withSpread(differences)}, median ${show(quantile(differences, 0.5))}, ${wins} of ` +
    `${differences.length}`
  );
}

function pairTable(records: readonly RunRecord[]): string {
  const present = PAIRS.filter(([a, b]) =>
    [a, b].every((loss) => records.some((r) => r.loss === loss)),
  );
  return markdown(
    [
      "difference paired by seed: mean ± sd, median, wins of the first",
      ...present.map(([a, b]) => `${a} − ${b}`),
    ],
    columns.map((column) => [
      column.title,
      ...present.map(([a, b]) => pairCell(records, a, b, column)),
    ]),
  );
}

/** Runs whose annealed normaliser depends on few particles, in either of the measured states. */
const scarce = (records: readonly RunRecord[]): string[] =>
  records.flatMap(({ loss, seed, chosen, chosenByExact }) => {
    const least = Math.min(
      chosen.annealed.effectiveSamples,
      chosenByExact.annealed.effectiveSamples,
    );
    return least < ENOUGH_SAMPLES
      ? [
          `${loss}, seed ${seed}: the annealed normaliser has only ${least.toFixed(0)} ` +
            "effective samples",
        ]
      : [];
  });

/** The whole report as Markdown. */
export function studyTable(records: readonly RunRecord[]): string {
  const sections = [...new Set(records.map((r) => r.dataset))].map((dataset) => {
    const own = records.filter((r) => r.dataset === dataset);
    const { n, points } = own[0];
    const failures = own.filter((r) => r.failure !== undefined);
    return [
      `## ${dataset}: ${n} coordinates, ${points.train} + ${points.validation} + ` +
        `${points.test} points`,
      lossTable(own),
      pairTable(own),
      ...failures.map((r) => `${r.loss}, seed ${r.seed}: ${r.failure}`),
      ...scarce(own),
    ].join("\n\n");
  });
  return `${sections.join("\n\n")}\n`;
}
