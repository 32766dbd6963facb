/**
 * Effective draws per second of nineteen published posteriors, compared with rstan: 4 chains of
 * 1,000 draws after 1,000 of warm-up, complete runs on one core, both programs of a posterior in
 * sequence.
 *
 *   npm run bench -- posteriors nineteen --compile      compiles and stores Stan's twelve programs, which takes minutes
 *   taskset -c 0 npm run bench -- posteriors nineteen   all of them; an interrupted run continues
 *   … nineteen eight_schools arK                        some of them
 *
 * Seconds are processor seconds including the warm-up; those of diffeo include compilation, those
 * of Stan do not. The least ESS is the minimum of bulk and tail ESS over all published quantities.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type MetricName, samplePosterior } from "diffeo/mcmc";
import { key } from "diffeo/random";
import { folder, modelOf, names, referenceOf, settings } from "./agree.ts";
import { markdown, processorSeconds, recorded } from "./records.ts";

const [WARMUP, DRAWS] = [1000, 1000];
const KEPT = join(tmpdir(), "diffeo-stan-models");

interface Run {
  readonly ess: number;
  readonly seconds: number;
  readonly rhat: number;
  readonly diverged: number;
}

interface Found {
  readonly diagonal: Run;
  readonly lowRank: Run;
  readonly stan?: Run & { readonly stan: string };
}

const elementsOf = (name: string): string[] =>
  Object.entries(referenceOf(name).reference).flatMap(([element, known]) =>
    element !== "draws" && known.sd > 0 ? [element] : [],
  );

/** The output of the script in R. */
function inR(...options: readonly string[]): string {
  mkdirSync(KEPT, { recursive: true });
  const script = fileURLToPath(new URL("nineteen.R", import.meta.url));
  const { status, stdout, stderr } = spawnSync("Rscript", [script, KEPT, ...options], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`Rscript ended with ${status}: ${stderr.slice(-2000)}`);
  return stdout;
}

const hasStan = (): boolean =>
  spawnSync("Rscript", ["-e", 'library(rstan); library("jsonlite")']).status === 0;

function inStan(name: string): Found["stan"] {
  if (!hasStan()) return undefined;
  const delta = String(settings[name]?.targetAcceptance ?? 0.8);
  const out = inR(folder, name, String(WARMUP), String(DRAWS), delta, ...elementsOf(name));
  return JSON.parse(out.trim().split("\n").at(-1) as string) as Found["stan"];
}

async function inDiffeo(name: string, metric: MetricName): Promise<Run> {
  const model = await modelOf(name);
  const { data } = referenceOf(name);
  const { targetAcceptance } = settings[name] ?? {};
  const begun = processorSeconds();
  const posterior = await samplePosterior(model, {
    key: key(1),
    data,
    metric,
    warmup: WARMUP,
    draws: DRAWS,
    device: "wasm",
    ...(targetAcceptance && { targetAcceptance }),
  });
  const seconds = processorSeconds() - begun;
  const summary = posterior.summary();
  const rows = elementsOf(name).map((element) => summary[element]);
  return {
    seconds,
    ess: Math.min(...rows.map(({ bulkEss, tailEss }) => Math.min(bulkEss, tailEss))),
    rhat: Math.max(...rows.map(({ rhat }) => rhat)),
    diverged: posterior.chains.reduce(
      (sum, { diverged }) => sum + diverged.filter((d) => d).length,
      0,
    ),
  };
}

const shown = (run: Run | undefined): string =>
  run ? `${run.ess.toFixed(0)} in ${run.seconds.toFixed(2)} s` : "";

export async function nineteen(only: readonly string[] = names): Promise<string> {
  if (only[0] === "--compile") {
    const asked = only.length > 1 ? only.slice(1) : names;
    return inR("--compile", ...asked);
  }
  const rows: string[][] = [];
  for (const name of names.filter((each) => only.includes(each))) {
    const found = await recorded<Found>(`nineteen-${name}`, async () => ({
      diagonal: await inDiffeo(name, "diagonal"),
      lowRank: await inDiffeo(name, "low-rank"),
      ...((stan) => stan && { stan })(inStan(name)),
    }));
    const { diagonal, lowRank, stan } = found;
    const ratio = (run: Run): string =>
      stan ? (run.ess / run.seconds / (stan.ess / stan.seconds)).toFixed(1) : "";
    rows.push([
      name,
      shown(stan),
      shown(diagonal),
      ratio(diagonal),
      shown(lowRank),
      ratio(lowRank),
      [stan, diagonal, lowRank].map((run) => run?.diverged ?? "").join(", "),
    ]);
  }
  return markdown(
    [
      "posterior",
      "Stan: least ESS",
      "diffeo, diagonal",
      "per second, Stan's = 1",
      "diffeo, low-rank",
      "per second, Stan's = 1",
      "divergences",
    ],
    rows,
  );
}
