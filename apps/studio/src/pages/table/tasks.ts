/**
 * The tasks of the page of tables, with the functions of the command `diffeo table`: read a table,
 * infer its columns, fit a model, sample rows and compute likelihoods. The worker keeps table, fit
 * and model; the page keeps what it shows.
 */
import { fail } from "diffeo/graph";
import { concatArrays } from "diffeo/host";
import { memoryStore, type RunStore } from "diffeo/train";
import {
  type CellTable,
  chooseNetwork,
  type FitTableOptions,
  fitTable,
  formatRule,
  inferColumns,
  layoutOf,
  type NetworkChoice,
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
import { givenParts } from "./given-columns.ts";
import {
  type Cell,
  type DrawRequest,
  type FitRequest,
  type FitUpdate,
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
/** The domains of the columns, and the rows as cells of these domains. */
let understood:
  | (Pick<FitTableOptions, "columns" | "layout"> & {
      readonly rows: readonly (readonly OpenCell[])[];
      readonly choice: NetworkChoice;
    })
  | undefined;
/** The fit that can continue: the stores of its networks, and the network in training. */
let kept: { given: RunStore; whole: RunStore; stage: TableProgress["network"] } | undefined;
let model: TableModel | undefined;
/** Log-likelihoods of sampled rows, and the model they were sampled from. */
let drawnScores: { readonly of: TableModel; readonly values: readonly number[] } | undefined;

/** Replaces the current model, by none if absent. */
async function replace(next?: TableModel): Promise<void> {
  const before = model;
  model = next;
  await before?.dispose();
}

const needTable = (): CellTable =>
  table ?? fail("usage", "there is no table yet", "open one first");
const needModel = (): TableModel =>
  model ?? fail("usage", "there is no model yet", "fit one, or open a file");

/** Reads a table and removes the previous table, fit and model. */
export const read = task<Source, never, ReadTable>(async (source) => {
  const example = source.kind === "example" ? exampleTable(source.name) : undefined;
  const text = source.kind === "text" ? source.text : example?.text;
  if (text === undefined)
    fail("usage", `unknown example table “${source.name}”`, "choose another example");
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

/** The part of a domain that can be sent to the page. */
const shownDomain = ({ columns, parts }: ShownDomain): ShownDomain => ({
  columns,
  parts: parts.map((part) => ({
    columns: part.columns,
    at: { cells: part.at.cells },
    domain: { kind: part.domain.kind, spec: part.domain.spec },
  })),
});

/** Infers the kinds of the columns from rules and cells, and checks that all cells fit them. */
export const infer = task<readonly string[], never, InferredTable>(async (rules) => {
  const cells = needTable();
  const inferred = inferColumns(cells, rules);
  const columns = namedDomains(inferred);
  const { domain } = relatedColumns(columns);
  const rows = rowsOf(cells, columns);
  const choice = chooseNetwork(rows.length, columns);
  [understood, kept] = [{ columns, layout: layoutOf(inferred), rows, choice }, undefined];
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
    choice,
    data: wholeRows(rows).slice(0, PICTURED),
  };
});

/** A store in memory that lets the worker receive messages at every report of progress. */
function openStore(): RunStore {
  const store = memoryStore();
  return {
    ...store,
    log: async (record) => {
      await store.log(record);
      await turn();
    },
  };
}

/** Samples during training, and the share of the time that they may take. */
const WATCHED = { count: 400, evaluations: 20, share: 0.15 } as const;

/** The seed of samples during training and of those that a likelihood is compared with. */
const LOOK = 0;

export const fit = task<FitRequest, FitUpdate, OpenTable | "stopped">(
  async (request, { report, signal }) => {
    const { columns, layout, rows, choice } =
      understood ?? fail("usage", "there is no table yet", "open one first");
    const { anew, minutes, steps, ...options } = request;
    if (anew || !kept) kept = { given: openStore(), whole: openStore(), stage: "given" };
    // The first network completes rows with missing values, on which the second is trained: until
    // the first has ended, the second has not begun.
    else if (kept.stage === "given") kept.whole = openStore();
    const own = kept;
    await replace();
    let [waited, watched] = [performance.now(), 0];
    try {
      const found = await fitTable(rows, {
        ...options,
        columns,
        layout,
        network: choice.network,
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
          // A stop ends the sampling, not the fit, whose network is still to be stored.
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

/** Makes a model the current one. */
async function opened(found: TableModel): Promise<OpenTable> {
  await replace(found);
  const { domain, training } = found;
  return {
    domain: shownDomain(domain),
    training,
    isMasked: found.bins !== undefined,
    given: takesGiven(found)
      ? await givenParts(found, understood ? wholeRows(understood.rows) : [])
      : [],
  };
}

/** Opens a model from a file and removes the current table. */
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

const sampleRows = async (
  { seed, count, evaluations, given }: DrawRequest,
  signal: AbortSignal,
) => {
  return needModel().sample({
    seed,
    count,
    evaluations,
    signal,
    ...(Object.keys(given).length > 0 && { given }),
  });
};

export const draw = task<DrawRequest, never, readonly (readonly Cell[])[]>(
  async (request, { signal }) => (await sampleRows(request, signal)).rows,
);

/** Samples as the text of a CSV file. */
export const drawFile = task<DrawRequest, never, string>(async (request, { signal }) => {
  const { rows } = await sampleRows(request, signal);
  const of = needModel();
  return serializeCells(writtenColumns(of), writtenRows(of, rows, { seed: request.seed }));
});

/** The number of sampled rows that a likelihood is compared with. */
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

/** log q of a row from its cells as text. */
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
