/**
 * Approximations of the published posteriors: k̂, the evidence bound, and the errors of means and
 * standard deviations relative to the reference.
 */
import { approximate, fits } from "diffeo/mcmc";
import { key } from "diffeo/random";
import { models } from "../../packages/diffeo/test/mcmc/posteriors.ts";
import { referenceOf } from "./agree.ts";
import { markdown, recorded } from "./records.ts";

/** The models of the lower layer. */
const names = Object.keys(models);

interface Approximated {
  readonly khat: number;
  readonly evidence: number;
  readonly evidenceError: number;
  /** The largest error of a mean in reference sds, and of an sd as a ratio. */
  readonly mean: number;
  readonly spread: number;
  readonly seconds: number;
}

async function approximated(name: string, fit: (typeof fits)[number]): Promise<Approximated> {
  const { data, reference } = referenceOf(name);
  const began = performance.now();
  const found = await approximate(models[name](data), { key: key(2026), fit, draws: 10_000 });
  const seconds = (performance.now() - began) / 1000;
  const summary = found.summary();
  const rows = Object.entries(reference).filter(([element]) => element !== "draws");
  const { khat, evidence, evidenceError } = found;
  return {
    khat,
    evidence,
    evidenceError,
    mean: Math.max(
      ...rows.map(([element, known]) => Math.abs(summary[element].mean - known.mean) / known.sd),
    ),
    spread: Math.max(
      ...rows.map(([element, known]) => Math.abs(summary[element].sd / known.sd - 1)),
    ),
    seconds,
  };
}

export async function approximations(only: readonly string[] = names): Promise<string> {
  const rows: string[][] = [];
  for (const name of names.filter((each) => only.includes(each)))
    for (const fit of fits) {
      const a = await recorded(`approximate-${name}-${fit}`, () => approximated(name, fit));
      rows.push([
        name,
        fit,
        a.khat.toFixed(2),
        `${a.evidence.toFixed(3)} ± ${a.evidenceError.toFixed(3)}`,
        `${a.mean.toFixed(2)} sd`,
        `${(100 * a.spread).toFixed(0)} %`,
        a.seconds.toFixed(1),
      ]);
    }
  return markdown(
    ["posterior", "fit", "k̂", "evidence bound", "worst mean", "worst sd", "seconds"],
    rows,
  );
}
