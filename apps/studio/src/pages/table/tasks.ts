/**
 * What the page of tables has computed, by the functions that the command `diffeo table` calls: a
 * table is read and its columns are looked at, a model is fitted and watched, rows are drawn from
 * it and their likelihood is computed. The worker keeps table, fit and model; the page has what it shows.
 */
import { fail } from "diffeo/graph";
import { concatArrays, quantiles } from "diffeo/host";
import { memoryStore, type RunStore } from "diffeo/train";
import {
  allCells,
  type CellTable,
  type FitTableOptions,
  fitTable,
  formatRule,
  inferColumns,
  layoutOf,
  namedDomains,
  type OpenCell,
  parseCells,
  parseTableModel,
  relatedColumns,
  rowsIn,
  rowsOf,
  serializeCells,
  serializeTableModel,
  type TableModel,
  type TableProgress,
  takesGiven,
  wholeRows,
  writtenColumns,
  writtenRows,
} from "diffeo-tables";
import { task, turn } from "../../shell/rpc.ts";
import { exampleTable } from "./examples.ts";
import {
  type Cell,
  type DrawAsk,
  type FitAsk,
  type FitUpdate,
  type GivenColumn,
  type InferredTable,
  LISTED,
  type Likelihood,
  type OpenTable,
  PICTURED,
  type ReadTable,
  type ShownDomain,
  type Source,
} from "./shapes.ts";

let table: CellTable | undefined;
/** The columns' domains, and the rows as their cells. */
let understood:
  | (Pick<FitTableOptions, "columns" | "layout"> & {
      readonly rows: readonly (readonly OpenCell[])[];
    })
  | undefined;
/** The fit that can go on: where its networks are kept, and whether the first is done. */
let kept: { given: RunStore; whole: RunStore; stage: TableProgress["network"] } | undefined;
let model: TableModel | undefined;
/** Likelihoods of rows that were drawn, of the model that they were drawn from. */
let drawnScores: { readonly of: TableModel; readonly values: readonly number[] } | undefined;

/** Takes another model, or none, in the place of the one that was open. */
async function replace(next?: TableModel): Promise<void> {
  const before = model;
  model = next;
  await before?.dispose();
}

const needTable = (): CellTable =>
  table ?? fail("usage", "there is no table yet", "give one first");
const needModel = (): TableModel =>
  model ?? fail("usage", "there is no model yet", "fit one, or open a file");

/** Reads a table; what was made of another is forgotten. */
export const read = task<Source, never, ReadTable>(async (source) => {
  const example = source.kind === "example" ? exampleTable(source.name) : undefined;
  const text = source.kind === "text" ? source.text : example?.text;
  if (text === undefined)
    fail("usage", `there is no table “${source.name}” here`, "choose another");
  const name = source.kind === "text" ? source.name : `${source.name}.csv`;
  const found = parseCells(text, name);
  [table, understood, kept] = [found, undefined, undefined];
  await replace();
  return {
    name,
    columns: found.columns,
    rows: found.rows.length,
    head: found.rows.slice(0, LISTED),
    rules: example?.rules ?? [],
    ...(example && { text }),
  };
});

/** The plain part of a product of domains. */
const shownDomain = ({ columns, parts }: ShownDomain): ShownDomain => ({
  columns,
  parts: parts.map((part) => ({
    columns: part.columns,
    at: { cells: part.at.cells },
    domain: { kind: part.domain.kind, spec: part.domain.spec },
  })),
});

/** What the columns are, by rules and by their cells; and whether all cells are inside. */
export const infer = task<readonly string[], never, InferredTable>(async (rules) => {
  const cells = needTable();
  const inferred = inferColumns(cells, rules);
  const columns = namedDomains(inferred);
  const { domain } = relatedColumns(columns);
  const rows = rowsOf(cells, columns);
  [understood, kept] = [{ columns, layout: layoutOf(inferred), rows }, undefined];
  const spoken = new Set(inferred.flatMap((part) => part.columns));
  return {
    parts: inferred.map((part) => ({
      columns: part.columns,
      rule:
        (part.domain && formatRule(part.columns, part.domain)) ??
        `${part.columns.join("+")}=${part.kind}`,
      reason: part.reason,
      isMade: part.isMade,
    })),
    dropped: cells.columns.filter((name) => !spoken.has(name)),
    domain: shownDomain(domain),
    data: wholeRows(rows).slice(0, PICTURED),
  };
});

/** Memory, and a turn at every report of progress. */
function heard(): RunStore {
  const store = memoryStore();
  return {
    ...store,
    log: async (record) => {
      await store.log(record);
      await turn();
    },
  };
}

/** Rows that are drawn while it trains, and the share of the time that this may take. */
const WATCHED = { count: 400, evaluations: 20, share: 0.15 } as const;

/** The seed of rows that are drawn to look at. */
const LOOK = 0;

export const fit = task<FitAsk, FitUpdate, OpenTable | "stopped">(
  async (ask, { report, signal }) => {
    const { columns, layout, rows } =
      understood ?? fail("usage", "there is no table yet", "give one first");
    const { anew, minutes, steps, ...options } = ask;
    if (anew || !kept) kept = { given: heard(), whole: heard(), stage: "given" };
    // Rows of a table with holes are completed by the first network: while that has not ended, the
    // second has not begun.
    else if (kept.stage === "given") kept.whole = heard();
    const own = kept;
    await replace();
    let [waited, watched] = [performance.now(), 0];
    try {
      const found = await fitTable(rows, {
        ...options,
        columns,
        layout,
        signal,
        store: own.whole,
        givenStore: own.given,
        steps,
        minutes: steps === undefined ? minutes : undefined,
        onProgress: (progress) => {
          own.stage = progress.network;
          report({ kind: "progress", progress });
        },
        onMeasured: async (draw) => {
          const began = performance.now();
          if (signal.aborted || watched > WATCHED.share * (began - waited + watched)) return;
          const { count, evaluations } = WATCHED;
          // A stop ends the drawing, not the fit: what was trained is still to be saved.
          const drawn = await draw({ count, evaluations, seed: LOOK, signal }).catch(
            (error: unknown) => {
              if (!signal.aborted) throw error;
            },
          );
          if (!drawn) return;
          report({ kind: "samples", rows: drawn.rows });
          [watched, waited] = [performance.now() - began, performance.now()];
        },
      });
      if (signal.aborted && own.stage === "given") return "stopped";
      return await opened(found);
    } catch (error) {
      if (signal.aborted) return "stopped";
      throw error;
    }
  },
);

/** A column as a control, from the cells that rows have there. */
function givenColumn(
  name: string,
  labels: readonly Cell[] | undefined,
  isWhole: boolean,
  cells: readonly Cell[],
): GivenColumn {
  if (labels) return { name, labels, low: 0, high: 0, step: 1, middle: labels[0] };
  const [low, middle, high] = quantiles(Float64Array.from(cells, Number), [0.005, 0.5, 0.995]);
  if (isWhole)
    return {
      name,
      low: Math.floor(low),
      high: Math.ceil(high),
      middle: Math.round(middle),
      step: 1,
    };
  // A power of ten of which some hundreds are the whole.
  const step = 10 ** Math.floor(Math.log10(Math.max(high - low, 1e-300)) - 2);
  const down = (v: number): number => Number((Math.floor(v / step) * step).toPrecision(12));
  return { name, low: down(low), high: down(high + step), middle: down(middle), step };
}

/**
 * What cells can be given of a model, from rows that there are, or else from some that it draws.
 */
async function givenParts(found: TableModel): Promise<OpenTable["given"]> {
  const { domain, related, layout, sample } = found;
  const known = understood ? wholeRows(understood.rows) : [];
  const rows =
    known.length >= 10 ? known : allCells(found, (await sample({ count: 500, seed: LOOK })).rows);
  // What was made for a rule between columns is in no table.
  const parts = (related?.domain ?? domain).parts.filter(
    ({ columns }) => !related || !layout || columns.every((name) => layout.columns.includes(name)),
  );
  return parts.map(({ domain: own, columns, at }) => {
    const labels = own.spec?.kind === "category" ? own.spec.labels : undefined;
    return {
      kind: own.kind,
      columns: columns.map((name, k) =>
        givenColumn(
          name,
          labels,
          own.kind === "integer",
          rows.map((row) => row[at.cells + k]),
        ),
      ),
    };
  });
}

/** Takes a model as the one that is asked from now on. */
async function opened(found: TableModel): Promise<OpenTable> {
  await replace(found);
  const { domain, training } = found;
  return {
    domain: shownDomain(domain),
    training,
    given: takesGiven(found) ? await givenParts(found) : [],
  };
}

/** A model out of a file; the table that was there is forgotten. */
export const openModel = task<
  { readonly name: string; readonly bytes: Uint8Array },
  never,
  OpenTable
>(async ({ name, bytes }) => {
  const found = parseTableModel(bytes, name);
  [table, understood, kept] = [undefined, undefined, undefined];
  return opened(found);
});

/** The bytes of the model's file. */
export const modelFile = task<null, never, Uint8Array>(async () => {
  return concatArrays((length) => new Uint8Array(length), serializeTableModel(needModel()));
});

const drawn = async ({ seed, count, evaluations, given }: DrawAsk, signal: AbortSignal) => {
  return needModel().sample({
    seed,
    count,
    evaluations,
    signal,
    ...(Object.keys(given).length > 0 && { given }),
  });
};

export const draw = task<DrawAsk, never, readonly (readonly Cell[])[]>(
  async (ask, { signal }) => (await drawn(ask, signal)).rows,
);

/** The same rows, and more of them, as the text of a CSV file. */
export const drawFile = task<DrawAsk, never, string>(async (ask, { signal }) => {
  const { rows } = await drawn(ask, signal);
  const of = needModel();
  return serializeCells(writtenColumns(of), writtenRows(of, rows, { seed: ask.seed }));
});

/** Drawn rows that a row's likelihood is seen among. */
const AMONG = 100;

async function likelihoodsOfSamples(
  of: TableModel,
  signal: AbortSignal,
): Promise<readonly number[]> {
  if (drawnScores?.of === of) return drawnScores.values;
  const { rows } = await of.sample({ count: AMONG, seed: LOOK, signal });
  const values = [...(await of.logLikelihood(rows, { signal }))].sort((a, b) => a - b);
  drawnScores = { of, values };
  return values;
}

/** log q of a row whose cells are as they are written; empty ones are left out of it. */
export const logLikelihood = task<readonly string[], Likelihood, Likelihood>(
  async (row, { signal, report }) => {
    const found = needModel();
    const { columns } = found.domain;
    const [cells] = rowsIn({ source: "The row", columns, rows: [row], lines: [1] }, found.domain, {
      torn: false,
    });
    const [nats] = await found.logLikelihood([cells], { signal });
    report({ nats, others: drawnScores?.of === found ? drawnScores.values : [] });
    return { nats, others: await likelihoodsOfSamples(found, signal) };
  },
);
