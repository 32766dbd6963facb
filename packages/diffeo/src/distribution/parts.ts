/** What distributions that are made of others share: their numbers, and their samples. */
import type { Tensor } from "../graph/index.ts";
import type { Distribution, Numbers } from "./distribution.ts";

/** The parameters of all parts, and the numbers of each part among those of all. */
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

/** The support that distributions have in common: that of the first, where all have its kind. */
export function commonSupport(parts: readonly Distribution[]): Distribution["support"] | undefined {
  const [{ support }] = parts;
  const text = (d: Distribution): string =>
    "spec" in d.support ? JSON.stringify(d.support.spec) : "bounds";
  const same = parts.every((d) => text(d) === text(parts[0]));
  return same && support.kind !== "bounds" ? support : undefined;
}
