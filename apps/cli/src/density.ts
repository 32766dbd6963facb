/** diffeo density: fit tables of numbers by score matching, use the fits, and run the study of losses. */
import type { Command } from "commander";
import { addDensityFit } from "./density-fit.ts";
import { addDensityStudy } from "./density-study.ts";
import { addDensityUse } from "./density-use.ts";

export function addDensity(program: Command): void {
  const density = program.command("density").description("density estimation by generalised sliced score matching");
  addDensityFit(density);
  addDensityUse(density);
  addDensityStudy(density);
}
