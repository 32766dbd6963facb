/** Tables of reports, in Markdown. */
import { mean } from "diffeo/host";
import { deviation } from "./paired.ts";

/** Three significant digits, as people write them. */
export function show(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1).replace("e+", "e");
  return size >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

/** Mean ± standard deviation. */
export const spread = (values: readonly number[]): string =>
  values.length === 0
    ? "–"
    : values.length === 1
      ? show(values[0])
      : `${show(mean(values))} ± ${show(deviation(values))}`;

/** A table; the first row is its head. */
export const markdown = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
