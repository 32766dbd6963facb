/** diffeo chess report: writes the page and the figure of a study of w from its records. */
import { join } from "node:path";
import { fail } from "diffeo/graph";
import { tidyTemporaries, writeFileAtomic } from "diffeo/node";
import { studyFigure, studyPage } from "diffeo-chess";
import { readScaleRecords } from "diffeo-chess/node";
import type { Declare, Io } from "../shell/io.ts";
import { outputs, type Planned } from "../shell/outputs.ts";
import { pictureFiles, writePicture } from "../shell/pictures.ts";

export const STUDY_FOLDER = "studies/drift-scale";

/**
 * The files that the report writes. Other pages, such as a project's README, are not replaced.
 */
export const reportFiles = (out: string): Planned[] => [
  { path: join(out, "README.md"), like: /^# w against pieces and legality/ },
  ...pictureFiles(join(out, "drift-scale")),
];

/** Writes the page and the figure, as SVG and PNG. Prints the page, or the records. */
export async function writeReport(io: Io, out: string, json: boolean): Promise<void> {
  const records = await readScaleRecords(out);
  if (records.length === 0)
    fail("data", `${out} holds no records of runs`, "run diffeo chess study first");
  const page = studyPage(records, "drift-scale.png");
  const svg = await studyFigure(records);
  await writeFileAtomic(join(out, "README.md"), page);
  await writePicture(io, join(out, "drift-scale"), svg);
  io.stdout.write(json ? `${JSON.stringify(records, undefined, 1)}\n` : page);
}

async function report(
  io: Io,
  out: string,
  { json = false }: { readonly json?: boolean },
): Promise<void> {
  await outputs(reportFiles(out));
  await tidyTemporaries(join(out, "runs"));
  await writeReport(io, out, json);
}

export const declare: Declare = (command, io) =>
  void command
    .argument("[folder]", "folder of the study", STUDY_FOLDER)
    .option("--json", "print the records")
    .action((out, options) => report(io, out, options));
