/** diffeo density report: the table and the figures of a study, from its records. */
import { join } from "node:path";
import { fail } from "diffeo/graph";
import { writeFileAtomic } from "diffeo/node";
import { type RunRecord, studyFigures, studyTable } from "diffeo-tables/density";
import { readFitRecords } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { outputs } from "../shell/outputs.ts";
import { writePicture } from "../shell/pictures.ts";

export const STUDY_FOLDER = "studies/uci";

/** The path of the table. A file that is not such a table is not replaced. */
export const tableFile = (out: string) => ({
  path: join(out, "table.md"),
  like: /^## [\w-]+: \d+ coordinates/,
});

/**
 * Writes one file of records per dataset, the table, and each figure as SVG and PNG. Prints the
 * table.
 */
export async function writeReport(
  io: Io,
  out: string,
  records: readonly RunRecord[],
): Promise<void> {
  for (const dataset of new Set(records.map((r) => r.dataset))) {
    const own = records.filter((r) => r.dataset === dataset);
    await writeFileAtomic(
      join(out, `${dataset}.json`),
      `[\n${own.map((r) => JSON.stringify(r)).join(",\n")}\n]\n`,
    );
  }
  const table = studyTable(records);
  await writeFileAtomic(join(out, "table.md"), table);
  for (const [name, svg] of Object.entries(await studyFigures(records)))
    await writePicture(io, join(out, name), svg);
  io.stdout.write(table);
}

async function report(io: Io, out: string): Promise<void> {
  await outputs([tableFile(out)]);
  const records = await readFitRecords(out);
  if (records.length === 0)
    fail("data", `${out} holds no records of runs`, "run diffeo density study first");
  await writeReport(io, out, records);
}

export const declare: Declare = (command, io) =>
  void command
    .argument("[folder]", "the study's folder", STUDY_FOLDER)
    .action((out) => report(io, out));
