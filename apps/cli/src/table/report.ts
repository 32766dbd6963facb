/** The HTML report of an evaluation, and the faults for which a model fails. */
import { basename } from "node:path";
import { fail } from "diffeo/graph";
import { writeFileAtomic } from "diffeo/node";
import {
  allCells,
  type Cells,
  type Evaluated,
  type EvaluateOptions,
  faultsOf,
  htmlReport,
  knownDomain,
  type ReportColumn,
  reportFigures,
  type TableEvaluation,
  type TableModel,
  type TriedMap,
  takesGiven,
} from "diffeo-tables";
import type { Io } from "../shell/io.ts";
import { progress } from "../shell/progress.ts";

/** Pattern of the first bytes of an earlier report. */
export const REPORT =
  /^<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport"/;

/** Throws if a baseline is better or clusters have the wrong mass. */
export function requireFaultless(evaluation: TableEvaluation, remedy: string): void {
  const faults = faultsOf(evaluation);
  if (faults.length > 0) fail("numerical", faults.join("; "), remedy);
}

/** A note on how rows with empty cells are evaluated, if there are some. */
export function tornRows(model: TableModel, all: number, whole: number): string {
  if (whole === all) return "";
  const [torn, rows] = [all - whole, all].map((n) => n.toLocaleString("en"));
  const some = `${torn} of ${rows} rows have empty cells`;
  return takesGiven(model)
    ? `${some}: their likelihoods use the other cells, and the model fills in the empty ones ` +
        `for comparisons with samples\n`
    : `${some} and are left out: the model has no network of given cells\n`;
}

/** Runs an evaluation with a progress bar. */
export async function measuring<T>(
  { stderr, signal }: Io,
  work: (how: Pick<EvaluateOptions, "onStage" | "signal">) => Promise<T>,
): Promise<T> {
  const bar = progress(stderr, 100, "measuring");
  try {
    return await work({
      signal,
      onStage: (what, share) => bar.update(Math.round(100 * share), what),
    });
  } finally {
    bar.end();
  }
}

export interface ReportFile {
  readonly path: string;
  /** The files of the rows and of the model. */
  readonly source: string;
  readonly model: string;
  /** The kinds of the columns with reasons, if known. */
  readonly columns?: readonly ReportColumn[];
  readonly seconds?: number;
  /** Maps that were tried instead of the usual ones. */
  readonly maps?: readonly TriedMap[];
  /** The rows that pictures show. */
  readonly rows: readonly Cells[];
}

/** Writes the report on a model. */
export async function writeReport(
  file: ReportFile,
  model: TableModel,
  { evaluation, drawn }: Pick<Evaluated, "evaluation" | "drawn">,
): Promise<void> {
  const { training } = model;
  const domain = knownDomain(model);
  const { path, source, rows, seconds, maps = [] } = file;
  const name = basename(file.model);
  const figures = await reportFigures(evaluation, {
    title: `${basename(source)}: data and rows sampled from the model`,
    domain,
    data: allCells(model, rows),
    samples: allCells(model, drawn),
  });
  const html = htmlReport({
    source: basename(source),
    model: name,
    columns:
      file.columns ??
      domain.parts.map((part) => ({ columns: part.columns, kind: part.domain.kind })),
    training: [
      ["rows", training.rows.toLocaleString("en")],
      ["weights of step", training.step.toLocaleString("en")],
      ["loss on held-out rows", training.validation.toFixed(4)],
      ["seed", String(training.seed)],
      ...(seconds === undefined ? [] : [["seconds", seconds.toFixed(0)] as const]),
      ...maps.map(
        ({ map, gain, error, kept }) =>
          [
            `tried ${map}`,
            `${gain < 0 ? "−" : "+"}${Math.abs(gain).toFixed(3)} ± ${error.toFixed(3)} nats ` +
              `per row${kept ? ", kept" : ""}`,
          ] as const,
      ),
    ],
    evaluation,
    figures,
    commands: [
      `diffeo table sample --model ${name} --count 10000 --out new.csv`,
      `diffeo table likelihood --model ${name} rows.csv`,
      `diffeo table evaluate --model ${name} held-out.csv --report report.html`,
    ],
  });
  await writeFileAtomic(path, html);
}
