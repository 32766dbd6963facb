/**
 * diffeo table picture: columns of a table next to rows sampled from its model, and likelihood
 * ranks.
 */
import { basename } from "node:path";
import { fail } from "diffeo/graph";
import { writeFileAtomic } from "diffeo/node";
import {
  allCells,
  calibrate,
  chosenPlaces,
  knownDomain,
  modelDistribution,
  rowsIn,
  tablePicture,
  wholeRows,
} from "diffeo-tables";
import { loadTableModel, readCells } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { engineOf, integer, MOST } from "../shell/options.ts";
import { outputs, PNG, SVG } from "../shell/outputs.ts";
import { pngOf } from "../shell/pictures.ts";
import { type DrawOptions, withDrawOptions, withModel } from "./options.ts";

interface PictureCommand extends DrawOptions {
  readonly data: string;
  readonly out: string;
  readonly columns?: readonly string[];
  readonly samples?: number;
  readonly ranks: boolean;
}

async function picture(io: Io, options: PictureCommand): Promise<void> {
  const { model: path, data, out, columns, samples, ranks, seed, force } = options;
  const isPng = out.endsWith(".png");
  if (!isPng && !out.endsWith(".svg"))
    fail("usage", `${out} ends neither in .svg nor in .png`, "use one of these extensions");
  await outputs([{ path: out, like: isPng ? PNG : SVG }], { inputs: [path, data], force });
  const model = await loadTableModel(path, engineOf(options));
  const rows = wholeRows(rowsIn(await readCells(data), model.domain, { related: model.related }));
  const domain = knownDomain(model);
  // A column that does not exist is an error before any work.
  chosenPlaces(domain, columns);
  // Ranks of any function of a row are uniform if the model is right, so one point of an integer's
  // interval is enough.
  const distribution = modelDistribution(model, { signal: io.signal, spread: 1 });
  const drawn = await distribution.draw(
    samples ?? Math.min(5000, Math.max(1000, rows.length)),
    seed,
  );
  const svg = await tablePicture({
    title: `${basename(data)}: data and rows sampled from ${basename(path)}`,
    domain,
    data: allCells(model, rows),
    samples: allCells(model, drawn),
    columns,
    ...(ranks && { calibration: await calibrate(distribution, rows, drawn, seed) }),
  });
  await writeFileAtomic(out, isPng ? await pngOf(io, svg, out) : svg);
  io.stdout.write(`${out}\n`);
}

export const declare: Declare = (command, io) =>
  void withDrawOptions(
    withModel(command)
      .requiredOption("--data <file>", "a table with the columns of the model")
      .requiredOption("--out <file>", "file for the picture, .svg or .png")
      .option(
        "--columns <names>",
        "columns to draw, at most twelve, as a,b,c (default: the first twelve)",
        (text) => text.split(",").map((name) => name.trim()),
      )
      .option(
        "--samples <n>",
        "rows to sample (default: as many as the data, from 1,000 to 5,000)",
        integer(10, MOST.rows),
      )
      .option("--no-ranks", "leave out the likelihood ranks, which take longest"),
  ).action((options) => picture(io, options));
