/** Shared parts of distributions that are made of others. */
import type { Tensor } from "../graph/index.ts";
import type { Distribution, Numbers } from "./distribution.ts";

/** The parameters of all parts, and a function that selects the numbers of one part. */
export function joinParameters(parts: readonly { readonly parameters: readonly Tensor[] }[]): {
  readonly parameters: readonly Tensor[];
  readonly numbersOf: (numbers: Numbers, part: number) => Numbers;
} {
  const starts = [0];
  for (const { parameters } of parts) starts.push((starts.at(-1) as number) + parameters.length);
  return {
    parameters: parts.flatMap(({ parameters }) => parameters),
    numbersOf: (numbers, part) => (row) => numbers(row).slice(starts[part], starts[part + 1]),
  };
}

/** The common support of distributions: that of the first, if all have the same kind. */
export function commonSupport(parts: readonly Distribution[]): Distribution["support"] | undefined {
  const [{ support }] = parts;
  const text = (d: Distribution): string =>
    "spec" in d.support ? JSON.stringify(d.support.spec) : "bounds";
  const same = parts.every((d) => text(d) === text(parts[0]));
  return same && support.kind !== "bounds" ? support : undefined;
}
