/** The figures of a study as SVG: one panel a dataset, one column a loss, every run a point, and a box of the quartiles. */

import { quantile } from "diffeo/host";
import { FAINT, line, RULE, text } from "diffeo-picture";
import { likelihood } from "../measure/measure.ts";
import { LOSSES, type Measure } from "./report.ts";
import type { RunRecord } from "./study.ts";

const WIDTH = 300;
const HEIGHT = 280;
const EDGE = { left: 52, right: 10, top: 44, bottom: 34 };
const COLOURS: Readonly<Record<string, string>> = {
  sm: "#6e7781",
  ssm: "#5aa1d8",
  "ssm-vr": "#1f5fa8",
  gssm: "#e39a4b",
  "gssm-vr": "#b5541a",
};

/** Round steps of 1, 2 or 5 times a power of ten, about five to the range. */
function ticks(low: number, high: number): number[] {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((m) => m * power >= rough) as number) * power;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

/** An axis that holds most points: far outliers would flatten the rest, and are drawn at the edge with their value. */
function range(values: readonly number[]): [number, number] {
  const [lower, upper] = [quantile(values, 0.25), quantile(values, 0.75)];
  const reach = 2.5 * Math.max(upper - lower, 1e-6);
  const low = Math.max(Math.min(...values), lower - reach);
  const high = Math.min(Math.max(...values), upper + reach);
  const margin = 0.06 * (high - low || 1);
  return [low - margin, high + margin];
}

function panel(records: readonly RunRecord[], dataset: string, of: Measure, at: number): string {
  const own = records.filter((r) => r.dataset === dataset);
  const all = own.flatMap((r) => of(r) ?? []);
  const [low, high] = range(all);
  const inner = { width: WIDTH - EDGE.left - EDGE.right, height: HEIGHT - EDGE.top - EDGE.bottom };
  const y = (v: number): number => EDGE.top + ((high - v) / (high - low)) * inner.height;
  const present = LOSSES.filter((loss) => own.some((r) => r.loss === loss));
  const x = (i: number): number => EDGE.left + ((i + 0.5) / present.length) * inner.width;
  const axis = ticks(low, high).map(
    (v) =>
      line(EDGE.left, y(v), WIDTH - EDGE.right, y(v), RULE) +
      text(EDGE.left - 6, y(v) + 4, String(Number(v.toPrecision(6))), 'text-anchor="end"'),
  );
  const marks = present.map((loss, i) => {
    const values = own.filter((r) => r.loss === loss).flatMap((r) => of(r) ?? []);
    const colour = COLOURS[loss];
    const inside = (v: number): number => y(Math.min(high, Math.max(low, v)));
    const [q1, q2, q3] = [0.25, 0.5, 0.75].map((share) => inside(quantile(values, share)));
    const box = `<rect x="${(x(i) - 13).toFixed(1)}" y="${q3.toFixed(1)}" width="26" height="${Math.max(0.5, q1 - q3).toFixed(1)}" fill="${colour}" fill-opacity="0.18" stroke="${colour}"/>`;
    const points = values.map((v, k) => {
      // Points stand side by side in the order of their seeds, so that the same place is the same seed.
      const px = x(i) + (values.length > 1 ? (k / (values.length - 1) - 0.5) * 18 : 0);
      if (v >= low && v <= high)
        return `<circle cx="${px.toFixed(1)}" cy="${y(v).toFixed(1)}" r="2.1" fill="${colour}" fill-opacity="0.8"/>`;
      const edge = v > high ? EDGE.top : HEIGHT - EDGE.bottom;
      const tip = v > high ? edge - 5 : edge + 5;
      return `<path d="M${(px - 3).toFixed(1)} ${edge}L${(px + 3).toFixed(1)} ${edge}L${px.toFixed(1)} ${tip}Z" fill="${colour}"><title>${v.toFixed(1)}</title></path>`;
    });
    const beyond = values.filter((v) => v < low || v > high).length;
    return (
      box +
      line(x(i) - 13, q2, x(i) + 13, q2, colour, 'stroke-width="2"') +
      points.join("") +
      text(x(i), HEIGHT - 14, loss, 'text-anchor="middle"') +
      (beyond > 0 ? text(x(i), HEIGHT - 3, `+${beyond}`, `text-anchor="middle" fill-opacity="0.6"`) : "")
    );
  });
  return `<g transform="translate(${at} 0)">${text(EDGE.left, EDGE.top - 10, dataset, 'font-weight="bold"')}${axis.join("")}${line(EDGE.left, EDGE.top, EDGE.left, HEIGHT - EDGE.bottom, FAINT)}${marks.join("")}</g>`;
}

function figure(records: readonly RunRecord[], title: string, of: Measure): string {
  const datasets = [...new Set(records.map((r) => r.dataset))];
  const width = WIDTH * datasets.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}"><rect width="100%" height="100%" fill="#ffffff"/>${text(EDGE.left, 16, title, 'font-weight="bold"')}${datasets.map((dataset, i) => panel(records, dataset, of, i * WIDTH)).join("")}</svg>\n`;
}

/** Figures by file name, without an ending. */
export const studyFigures = (records: readonly RunRecord[]): Readonly<Record<string, string>> => ({
  "score-matching": figure(
    records,
    "Exact score matching on the test set (lower is better). A dot is a seed, ▲ and ▼ are seeds beyond the axis.",
    (r) => r.chosen.scoreMatching.mean,
  ),
  "log-likelihood": figure(
    records,
    "Test log-likelihood in nats a point, annealed normaliser (higher is better). A dot is a seed, ▲ and ▼ are seeds beyond the axis.",
    (r) => likelihood(r.chosen),
  ),
});
