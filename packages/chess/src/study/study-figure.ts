/** The figure of a study of w: mean pieces and the share of legal boards against w, one colour and mark a sampler. */
import { FAINT, line, RULE, text } from "diffeo-picture";
import { STUDY_METHODS, type StudyMethod, type StudyRecord } from "./study.ts";
import { METHOD_NAMES, ofMethod } from "./study-report.ts";

const PANEL = { width: 400, height: 340 };
const EDGE = { left: 44, right: 18, top: 88, bottom: 50 };
const INNER = { width: PANEL.width - EDGE.left - EDGE.right, height: PANEL.height - EDGE.top - EDGE.bottom };
/** Blue and vermilion of Okabe and Ito, which people see apart whatever colours they see. */
const COLOURS: Readonly<Record<StudyMethod, string>> = { domainPreserving: "#0072b2", eulerMaruyama: "#d55e00" };

/** A disc or a diamond, with the number as what a pointer shows. */
function mark(method: StudyMethod, x: number, y: number, said = ""): string {
  const place = `transform="translate(${x.toFixed(1)} ${y.toFixed(1)})" fill="${COLOURS[method]}" stroke="#ffffff"`;
  const shape =
    method === "domainPreserving" ? "M0 4.2A4.2 4.2 0 1 0 0 -4.2A4.2 4.2 0 1 0 0 4.2Z" : "M0 -5.4L5.4 0L0 5.4L-5.4 0Z";
  return `<path d="${shape}" ${place}>${said && `<title>${said}</title>`}</path>`;
}

interface Panel {
  /** What the axis shows and what is shaded around the line. */
  readonly title: string;
  readonly ticks: readonly number[];
  readonly of: (record: StudyRecord) => number;
  /** The ends of the shade. */
  readonly range: (record: StudyRecord) => readonly [number, number];
}

/** Wilson's 95 % interval of a share, which does not vanish at 0 and 1. */
function shareInterval({ legal: p, count: n }: StudyRecord): [number, number] {
  const z = 1.96;
  const centre = p + z ** 2 / (2 * n);
  const reach = z * Math.sqrt((p * (1 - p)) / n + (z / (2 * n)) ** 2);
  return [(centre - reach) / (1 + z ** 2 / n), (centre + reach) / (1 + z ** 2 / n)];
}

function panelsOf(records: readonly StudyRecord[]): Panel[] {
  const most = Math.max(32, ...records.map(({ pieces }) => pieces.mean + pieces.sd));
  return [
    {
      title: "Pieces on a board: mean, ± 1 SD shaded",
      ticks: Array.from({ length: Math.ceil(most / 8) + 1 }, (_, i) => 8 * i),
      of: (r) => r.pieces.mean,
      range: ({ pieces: { mean, sd } }) => [mean - sd, mean + sd],
    },
    {
      title: "Strictly legal boards: share, 95 % interval shaded",
      ticks: [0, 0.2, 0.4, 0.6, 0.8, 1],
      of: (r) => r.legal,
      range: shareInterval,
    },
  ];
}

/** Steps of 0.05 or 0.1 over the values of w there are. */
function scaleTicks(low: number, high: number): number[] {
  const step = high - low > 0.3 ? 0.1 : 0.05;
  const [first, last] = [Math.round(low / step), Math.round(high / step)];
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toFixed(2)));
}

function drawPanel(records: readonly StudyRecord[], panel: Panel, at: number): string {
  const scales = records.map((r) => r.w);
  const xTicks = scaleTicks(Math.min(...scales), Math.max(...scales));
  const low = Math.min(...scales, ...xTicks) - 0.006;
  const high = Math.max(...scales, ...xTicks) + 0.006;
  const top = panel.ticks[panel.ticks.length - 1];
  const x = (w: number): number => EDGE.left + ((w - low) / (high - low)) * INNER.width;
  const y = (v: number): number => EDGE.top + (1 - Math.min(top, Math.max(0, v)) / top) * INNER.height;
  const bottom = EDGE.top + INNER.height;
  const axes = [
    ...panel.ticks.map(
      (v) =>
        line(EDGE.left, y(v), PANEL.width - EDGE.right, y(v), RULE) +
        text(EDGE.left - 7, y(v) + 4, String(v), 'text-anchor="end"'),
    ),
    ...xTicks.map(
      (w) => line(x(w), bottom, x(w), bottom + 4, FAINT) + text(x(w), bottom + 17, String(w), 'text-anchor="middle"'),
    ),
    low < 1 && 1 < high ? line(x(1), EDGE.top, x(1), bottom, FAINT, 'stroke-dasharray="3 3"') : "",
    line(EDGE.left, bottom, PANEL.width - EDGE.right, bottom, FAINT),
    text(EDGE.left + INNER.width / 2, bottom + 37, "w, scale of the drift (1: as trained)", 'text-anchor="middle"'),
  ];
  const series = STUDY_METHODS.map((method) => {
    const own = ofMethod(records, method);
    if (own.length === 0) return { band: "", curve: "" };
    const path = (points: readonly (readonly [number, number])[]): string =>
      points.map(([w, v], i) => `${i ? "L" : "M"}${x(w).toFixed(1)} ${y(v).toFixed(1)}`).join("");
    const along = (end: 0 | 1) => own.map((r) => [r.w, panel.range(r)[end]] as const);
    const edge = path([...along(1), ...along(0).toReversed()]);
    const said = (r: StudyRecord): string => `w = ${r.w}: ${Number(panel.of(r).toFixed(3))}`;
    return {
      band: `<path d="${edge}Z" fill="${COLOURS[method]}" fill-opacity="0.13"/>`,
      curve:
        `<path d="${path(own.map((r) => [r.w, panel.of(r)] as const))}" fill="none" stroke="${COLOURS[method]}" stroke-width="1.8"/>` +
        own.map((r) => mark(method, x(r.w), y(panel.of(r)), said(r))).join(""),
    };
  });
  const title = text(EDGE.left, EDGE.top - 14, panel.title, 'font-weight="bold"');
  const body = [...axes, ...series.map((s) => s.band), ...series.map((s) => s.curve)].join("");
  return `<g transform="translate(${at} 0)">${title}${body}</g>`;
}

/** The figure as SVG. */
export function studyFigure(records: readonly StudyRecord[]): string {
  const panels = panelsOf(records);
  const width = PANEL.width * panels.length;
  const legend = STUDY_METHODS.filter((method) => ofMethod(records, method).length > 0).map((method, i) => {
    const [{ steps }] = ofMethod(records, method);
    const left = EDGE.left + 10 + i * 220;
    return (
      line(left - 10, 42, left + 10, 42, COLOURS[method], 'stroke-width="1.8"') +
      mark(method, left, 42) +
      text(left + 17, 46, `${METHOD_NAMES[method]}, ${steps} steps`)
    );
  });
  const title = text(
    EDGE.left,
    20,
    `Scaling the drift on the simplex: ${records[0].count.toLocaleString("en")} boards for each w`,
    'font-weight="bold"',
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${PANEL.height}" viewBox="0 0 ${width} ${PANEL.height}" role="img"><title>Mean pieces and the share of legal boards against w</title><rect width="100%" height="100%" fill="#ffffff"/>${title}${legend.join("")}${panels.map((panel, i) => drawPanel(records, panel, i * PANEL.width)).join("")}</svg>\n`;
}
