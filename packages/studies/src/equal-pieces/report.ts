/**
 * The report of equal-pieces. Boards are compared with real positions that have the same numbers of
 * pieces, one for one, so that the number of pieces does not give them away.
 */
import { mean } from "diffeo/host";
import { choice, fold, type Key, key } from "diffeo/random";
import {
  legalityShares,
  type Material,
  materialOf,
  meanAndSd,
  type Positions,
  select,
  twoSampleAuc,
} from "diffeo-chess";
import { COLOURS, chart } from "diffeo-picture/chart";
import { linesPanel } from "../study/lines.ts";
import type { ReportData, StudyRecord, StudyReport } from "../study/study.ts";
import { markdown, show } from "../study/table.ts";
import type { EqualPiecesResult, EqualPiecesTask } from "./run.ts";

type Records = readonly StudyRecord<EqualPiecesTask, EqualPiecesResult>[];

/** Numbers of pieces that rejection keeps, each with one more and one fewer. */
const KEPT = [8, 14, 20, 26, 30];
const LEAST_BOARDS = 20;

/** Boards of one setting, and the real positions they are compared with. */
interface Set {
  readonly way: string;
  readonly value: string;
  readonly positions: Positions;
}

interface Measured extends Set {
  readonly pieces: { readonly mean: number; readonly sd: number };
  readonly legal: number;
  readonly oneKingEach: number;
  readonly feasibleMaterial: number;
  readonly balanceSd: number;
  /** Of real positions with the same numbers of pieces; none without them. */
  readonly real?: { readonly auc: number; readonly balanceSd: number; readonly count: number };
}

function boardsOf(records: Records): Positions {
  const parts = records.map(({ result }) =>
    Uint8Array.from(atob(result.boards), (c) => c.charCodeAt(0)),
  );
  const bytes = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { count: bytes.length / 32, bytes };
}

/** Boards by way and value, and those that rejection keeps of the pool. */
function setsOf(records: Records): Set[] {
  const titles = { w: "w", tempering: "tempering, τ", guidance: "guidance, pieces" } as const;
  const sets = (["w", "tempering", "guidance"] as const).flatMap((way) => {
    const own = records.filter(({ task }) => task.way === way);
    const values = [...new Set<number>(own.map(({ task }) => task.value))].sort((a, b) => a - b);
    return values.map((value) => ({
      way: titles[way],
      value: String(value),
      positions: boardsOf(own.filter(({ task }) => task.value === value)),
    }));
  });
  const free = records.filter(
    ({ task: t }) => t.way === "pool" || (t.way === "w" && t.value === 1),
  );
  const pool = boardsOf(free);
  const { pieces } = materialOf(pool);
  const kept = KEPT.map((target) => {
    const rows = Array.from(pieces).flatMap((k, i) => (Math.abs(k - target) <= 1 ? [i] : []));
    return {
      way: "rejection, pieces ± 1",
      value: `${target}, ${show((100 * rows.length) / Math.max(1, pool.count))} % kept`,
      positions: select(pool, rows),
    };
  });
  return [...sets, ...kept].filter(({ positions }) => positions.count >= LEAST_BOARDS);
}

/** Real positions with the same numbers of pieces: a row of each, or fewer where there are none. */
function matched(pieces: ArrayLike<number>, byPieces: ReadonlyMap<number, number[]>, own: Key) {
  const wanted = new Map<number, number>();
  for (let i = 0; i < pieces.length; i++) wanted.set(pieces[i], (wanted.get(pieces[i]) ?? 0) + 1);
  return [...wanted].flatMap(([k, count]) => {
    const rows = byPieces.get(k) ?? [];
    const most = Math.min(count, rows.length);
    if (most === 0) return [];
    const picked = choice(fold(own, k), rows.length, most, { replace: false }).data;
    return Array.from(picked, (i) => rows[i]);
  });
}

function rowsByPieces({ pieces }: Material): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (let i = 0; i < pieces.length; i++) {
    const rows = found.get(pieces[i]) ?? [];
    rows.push(i);
    found.set(pieces[i], rows);
  }
  return found;
}

function measured(sets: readonly Set[], positions: Positions | undefined): Measured[] {
  const byPieces = positions && rowsByPieces(materialOf(positions));
  return sets.map((set, i) => {
    const material = materialOf(set.positions);
    const own = fold(fold(key(0), "real"), i);
    const rows = byPieces ? matched(material.pieces, byPieces, own) : [];
    const real = positions && rows.length >= LEAST_BOARDS ? select(positions, rows) : undefined;
    const beside = real && materialOf(real);
    return {
      ...set,
      pieces: meanAndSd(material.pieces),
      ...legalityShares(set.positions),
      balanceSd: meanAndSd(material.balance).sd,
      real: beside && {
        auc: twoSampleAuc(material, beside, own),
        balanceSd: meanAndSd(beside.balance).sd,
        count: beside.count,
      },
    };
  });
}

const hues: Readonly<Record<string, string>> = {
  w: COLOURS.blue,
  "tempering, τ": COLOURS.orange,
  "guidance, pieces": COLOURS.green,
  "rejection, pieces ± 1": COLOURS.purple,
};

function figure(all: readonly Measured[]): string {
  const ways = [...new Set(all.map(({ way }) => way))];
  const panel = (heading: string, label: string, of: (m: Measured) => number | undefined) =>
    linesPanel({
      heading,
      series: ways.map((way) => ({
        label: way,
        colour: hues[way],
        points: all
          .filter((m) => m.way === way)
          .flatMap((m) => {
            const y = of(m);
            return y === undefined ? [] : [{ x: m.pieces.mean, y }];
          })
          .sort((a, b) => a.x - b.x),
      })),
      x: { label: "mean pieces", inset: 8 },
      y: { label, ticks: 5 },
    });
  return chart({
    title: "Ways to fewer or more pieces",
    note:
      "AUC against real positions with the same numbers of pieces: 0.5 where none can tell them " +
      "apart.",
    description: "Legality, AUC and spread of the balance against mean pieces, by way.",
    legend: ways.map((label) => ({ label, colour: hues[label] })),
    panels: [
      panel("Strictly legal", "share", (m) => m.legal),
      panel("Two-sample test", "AUC", (m) => m.real?.auc),
      panel("Balance", "SD over that of real positions", (m) =>
        m.real ? m.balanceSd / m.real.balanceSd : undefined,
      ),
    ],
    width: 320,
  });
}

export function report(records: Records, { positions }: ReportData): StudyReport {
  const all = measured(setsOf(records), positions);
  if (all.length === 0)
    return { text: `${records.length} records, too few to measure\n`, figures: {} };
  const rows = all.map((m) => [
    m.way,
    m.value,
    String(m.positions.count),
    `${show(m.pieces.mean)} (${show(m.pieces.sd)})`,
    m.oneKingEach.toFixed(3),
    m.feasibleMaterial.toFixed(3),
    m.legal.toFixed(3),
    m.real ? m.real.auc.toFixed(3) : "–",
    m.real ? `${show(m.balanceSd)} : ${show(m.real.balanceSd)}` : show(m.balanceSd),
  ]);
  const text = [
    `${records.length} records, ${mean(all.map((m) => m.positions.count)).toFixed(0)} boards ` +
      "per row on average, 100 steps in logits. " +
      (positions
        ? "AUC and balance are compared with real positions that have the same numbers of " +
          "pieces, one for one."
        : "Give --positions for the AUC against real positions."),
    markdown(
      [
        "way",
        "value",
        "boards",
        "pieces (SD)",
        "one king each",
        "feasible",
        "legal",
        "AUC",
        "balance SD, boards : real",
      ],
      rows,
    ),
  ];
  return { text: `${text.join("\n\n")}\n`, figures: { "equal-pieces": figure(all) } };
}
