/**
 * Rows of a model of a table as jobs: rows `first` … of a seed, as JSON, in which a number is read
 * back as itself.
 */
import { fail } from "diffeo/graph";
import { byName } from "diffeo/host";
import { jobOf, type Kind } from "diffeo-queue";
import { type DrawnRows, type Given, parseTableModel } from "diffeo-tables";
import * as v from "valibot";
import { type Group, RELEASE } from "../shell/jobs.ts";
import { MOST } from "../shell/options.ts";

/** Rows of a job. */
const ROWS = 10_000;

const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(least), v.maxValue(most));

export interface RowsJob {
  readonly first: number;
  readonly count: number;
  readonly evaluations: number;
  readonly seed: number;
  readonly given?: Given;
}

const cell = v.union([v.string(), v.number()]);

const parameters: v.GenericSchema<unknown, RowsJob> = v.strictObject({
  first: whole(0, MOST.rows),
  count: whole(1, ROWS),
  evaluations: whole(2, 10_000),
  seed: whole(0, MOST.seed),
  given: v.optional(byName(cell)),
});

const drawn: v.GenericSchema<unknown, DrawnRows> = v.strictObject({
  columns: v.array(v.string()),
  rows: v.array(v.array(cell)),
  evaluations: whole(0, Number.MAX_SAFE_INTEGER),
});

export const rowsKind: Kind<RowsJob, DrawnRows> = {
  name: "table/rows",
  version: 1,
  parameters,
  run: async (job, work) => {
    const { device, threads, signal } = work;
    const model = await work.keep(
      `table ${work.inputDigest("model")} ${device} ${threads}`,
      async () =>
        parseTableModel(await work.input("model"), undefined, {
          device,
          threads,
        }),
      (kept) => kept.dispose(),
    );
    let step = 0;
    return model.sample({
      ...job,
      ...(signal && { signal }),
      onStep: () => work.report(Math.min(1, ++step / job.evaluations)),
    });
  },
  make: (rows) => Buffer.from(JSON.stringify(rows)),
  parse: (bytes, source) => {
    const found = v.safeParse(
      v.pipe(v.string(), v.parseJson(), drawn),
      new TextDecoder().decode(bytes),
    );
    return found.success
      ? found.output
      : fail("data", `${source} is no rows`, "clear the queue or the folder, and run again");
  },
};

/**
 * A group a job: rows are handed over as they are drawn. @param model the SHA-256 of the model's
 * file
 */
export function rowsGroups(
  { count, ...run }: Omit<RowsJob, "first">,
  model: string,
  device: string,
): Group[] {
  const setting = { release: RELEASE, device, inputs: { model } };
  return Array.from({ length: Math.ceil(count / ROWS) }, (_, i) => {
    const [first, size] = [i * ROWS, Math.min(ROWS, count - i * ROWS)];
    return {
      name: `rows ${first + 1} to ${first + size}`,
      jobs: [{ job: jobOf(rowsKind, { ...run, first, count: size }, setting), size }],
    };
  });
}
