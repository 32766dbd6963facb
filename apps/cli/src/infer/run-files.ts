/**
 * The folder of a run of `diffeo infer`: its settings, and checks before a run starts or resumes.
 */
import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fail } from "diffeo/graph";
import { chainsFile, type RunConfig } from "diffeo/node";
import { MOST } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { version } from "../shell/version.ts";
import { type InferCommand, walkOf } from "./jobs.ts";
import { resultFiles } from "./report.ts";

/** The settings that determine the numbers of a run. */
export function configOf(
  model: { readonly path: string; readonly digest: string },
  data: { readonly digest: string } | undefined,
  options: InferCommand,
): RunConfig {
  const { chains, block, seed, start = "random" } = options;
  // Run folders keep the first name of the option.
  const { targetAcceptance: acceptance, ...walk } = walkOf(options);
  return {
    version,
    files: { model: model.path, data: options.data?.join(", ") },
    seed,
    chains,
    block,
    ...(start !== "random" && { start }),
    ...walk,
    acceptance,
    model: model.digest,
    data: data?.digest,
  };
}

/** Throws, before any work, if the run cannot be started or resumed. */
export async function requireBeginning(file: string, options: InferCommand): Promise<void> {
  const { data, predictAt, out, chains, draws, resume = false, force = false, pictures } = options;
  if (resume && force)
    fail("usage", "--resume continues a run, but --force starts it again", "give one of them");
  if (!resume && !force && existsSync(join(out, "config.json")))
    fail(
      "usage",
      `${out} already contains a run`,
      "use --resume to continue it, --force to start it again, or another --out",
    );
  if (resume && !existsSync(join(out, "config.json")))
    fail("usage", `${out} contains no run to continue`, "omit --resume to start one");
  if (resume && existsSync(join(out, "summary.json")))
    fail(
      "usage",
      `the run in ${out} is done`,
      "read its summary.json, start it again with --force, or use another --out",
    );
  if (chains * draws > MOST.draws)
    fail(
      "usage",
      `${chains} chains of ${draws} draws exceed the limit of ` +
        `${MOST.draws.toLocaleString("en")} draws`,
      "use fewer --draws or --chains",
    );
  const results = resultFiles(out, chains, pictures, options);
  const inputs = [file, ...(data ?? []), ...(predictAt ?? [])];
  await outputs([{ path: chainsFile(out) }, ...results], { inputs, force: force || resume });
}

/**
 * Deletes the results of the run that --force replaces, so that none seems to be of the new run.
 */
export async function clearRun(out: string): Promise<void> {
  const own = [
    /^chain-\d+\.csv$/,
    /^(config|chains|draws|summary|loo)\.json$/,
    /^(trace|ranks|pairs|predictive)\.(svg|png)$/,
  ];
  for (const name of existsSync(out) ? await readdir(out) : [])
    if (own.some((pattern) => pattern.test(name))) await rm(join(out, name));
}

/** Throws if the model or the data of a run have changed since it began, and names the file. */
export async function requireSameFiles(
  out: string,
  config: RunConfig,
  files: Readonly<Record<string, string>>,
) {
  const text = await readFile(join(out, "config.json"), "utf8").catch(() => "{}");
  let begun: Readonly<Record<string, unknown>> = {};
  try {
    begun = JSON.parse(text) as typeof begun;
  } catch {
    return; // Opening the folder reports what is wrong with it.
  }
  for (const [name, path] of Object.entries(files))
    if (name in begun && begun[name] !== config[name])
      fail(
        "usage",
        `${path} has changed since the run in ${out} began, so its draws are for other ` +
          `${name === "model" ? "code" : "data"}`,
        "start again with --force, or restore the file",
      );
}
