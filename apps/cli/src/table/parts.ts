/**
 * Rows of a model of a table as parts: rows `first` … of a seed, as JSON, in which a number is read
 * back as itself.
 */
import { fail } from "diffeo/graph";
import { byName } from "diffeo/host";
import { type Kind, partOf } from "diffeo-queue";
import { type DrawnRows, type Given, parseTableModel } from "diffeo-tables";
import * as v from "valibot";
import { MOST } from "../shell/options.ts";
import { type Group, RELEASE } from "../shell/parts.ts";

/** Rows of a part. */
const ROWS = 10_000;

const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(least), v.maxValue(most));

export interface RowsPart {
  readonly first: number;
  readonly count: number;
  readonly evaluations: number;
  readonly seed: number;
  readonly given?: Given;
}

const cell = v.union([v.string(), v.number()]);

const parameters: v.GenericSchema<unknown, RowsPart> = v.strictObject({
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

export const rowsKind: Kind<RowsPart, DrawnRows> = {
  name: "table/rows",
  version: 1,
  parameters,
  run: async (part, work) => {
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
      ...part,
      ...(signal && { signal }),
      onStep: () => work.report(Math.min(1, ++step / part.evaluations)),
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
 * A group a part: rows are handed over as they are drawn. @param model the SHA-256 of the model's
 * file
 */
export function rowsGroups(
  { count, ...run }: Omit<RowsPart, "first">,
  model: string,
  device: string,
): Group[] {
  const setting = { release: RELEASE, device, inputs: { model } };
  return Array.from({ length: Math.ceil(count / ROWS) }, (_, i) => {
    const [first, size] = [i * ROWS, Math.min(ROWS, count - i * ROWS)];
    return {
      name: `rows ${first + 1} to ${first + size}`,
      parts: [{ part: partOf(rowsKind, { ...run, first, count: size }, setting), size }],
    };
  });
}
