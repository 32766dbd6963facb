/** diffeo density picture: draws fitted densities of two columns next to the data. */
import { type DensityModel, densityPicture, modelColumns } from "diffeo-tables/density";
import { loadDensity, sourceFile, tableOf } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { pictureFiles, writePicture } from "../shell/pictures.ts";
import { type TableCommand, withTableOptions } from "./table.ts";

interface PictureCommand extends TableCommand {
  readonly models: string[];
  readonly out: string;
  readonly force?: boolean;
}

async function picture(io: Io, { models, out, force, ...options }: PictureCommand): Promise<void> {
  await outputs(pictureFiles(out), {
    inputs: [...models, sourceFile(options.data, options.folder)],
    force,
  });
  const loaded: DensityModel[] = [];
  for (const path of models) loaded.push(await loadDensity(path));
  const table = await tableOf(options.data, options, modelColumns(loaded[0]));
  const svg = await densityPicture(table, loaded);
  await writePicture(io, out, svg);
  io.stdout.write(`${out}.svg and .png\n`);
}

export const declare: Declare = (command, io) =>
  void withTableOptions(
    command.requiredOption("--models <files...>", "models that density fit wrote"),
    "the CSV file they were fitted to",
  )
    .option("--out <name>", "file name without its ending", "density")
    .addOption(forceOption())
    .action((options) => picture(io, options));
