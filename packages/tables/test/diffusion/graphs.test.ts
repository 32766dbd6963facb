/** Graphs of a table that are held between calls. */
import { between, category, count, ordered, positive, product } from "diffeo/domain";
import { mul } from "diffeo/graph";
import { networkOf } from "diffeo/model";
import { key } from "diffeo/random";
import { describe, expect, it } from "vitest";
import type { OpenCell } from "../../src/diffusion/encode/points.ts";
import { type Graphs, openGraphs } from "../../src/diffusion/network/graphs.ts";
import { headOf } from "../../src/diffusion/network/head.ts";
import { type FittedTable, openedTable, sideSize } from "../../src/diffusion/network/model.ts";
import { completeRows, sampleGiven } from "../../src/diffusion/query/complete.ts";
import { conditionTable } from "../../src/diffusion/query/condition.ts";
import { drawRows } from "../../src/diffusion/query/draw.ts";
import { tableLogLikelihood } from "../../src/diffusion/query/log-likelihood.ts";
import { openTable } from "../../src/diffusion/query/table-model.ts";

/** Something to open, and its state. */
function things() {
  const [opened, freed]: string[][] = [[], []];
  const open = (name: string) => () => {
    opened.push(name);
    return { dispose: async () => void freed.push(name) };
  };
  return { opened, freed, open };
}

const nothing = async (): Promise<void> => undefined;

describe("graphs", () => {
  it("are compiled once per name and number of rows", async () => {
    const [{ take, dispose }, { opened, freed, open }] = [openGraphs(), things()];
    await Promise.all([take("a", 10, open("a"), nothing), take("a", 10, open("again"), nothing)]);
    await take("a", 11, open("larger"), nothing);
    await take("b", 10, open("b"), nothing);
    expect(opened).toEqual(["a", "larger", "b"]);
    expect(freed).toEqual([]);
    await dispose();
    expect(freed.toSorted()).toEqual(["a", "b", "larger"]);
    await expect(take("a", 10, open("late"), nothing)).rejects.toThrow("this model was disposed");
  });

  it("are removed if there is no room for another, the least recently used first, and never while in use", async () => {
    const [{ take }, { opened, freed, open }] = [openGraphs(), things()];
    const large = 8000;
    let end = (): void => undefined;
    const busy = take("busy", large, open("busy"), () => new Promise<void>((done) => (end = done)));
    await take("a", 100, open("a"), nothing);
    await take("b", large, open("b"), nothing);
    await take("a", 100, open("not again"), nothing);
    await take("c", large, open("c"), nothing);
    expect(freed).toEqual(["b"]);
    await take("a", 100, open("not again"), nothing);
    end();
    await busy;
    await take("d", large, open("d"), nothing);
    expect(freed).toEqual(["b", "busy"]);
    expect(opened).toEqual(["busy", "a", "b", "c", "d"]);
  });

  it("are tried again if they could not be compiled", async () => {
    const { take } = openGraphs();
    const broken = (): never => {
      throw new Error("no such device");
    };
    await expect(take("a", 1, broken, nothing)).rejects.toThrow("no such device");
    await expect(take("a", 1, things().open("a"), nothing)).resolves.toBeUndefined();
  });
});

const domain = product({
  size: positive(),
  share: between(0, 1),
  span: ordered(["start", "end"]),
  ward: category(["n", "s"]),
  visits: count(),
});
const n = domain.dimension;

function fitted(): FittedTable {
  const standard = {
    mean: Array.from({ length: n }, () => 0),
    matrix: Array.from({ length: n * n }, (_, at) => (at % (n + 1) === 0 ? 1 : 0.1)),
  };
  const { outputs } = headOf({ domain, standard });
  const network = (channels: number) =>
    ({ kind: "residual", channels, outputs, width: 8, blocks: 1 }) as const;
  const of = (channels: number, seed: number) => ({
    network: network(channels),
    parameters: networkOf(network(channels)).init(key(seed)),
  });
  return {
    domain,
    standard,
    ...of(n, 1),
    given: of(n + sideSize(domain), 2),
    training: { seed: 0, rows: 100, step: 1, validation: 1 },
  };
}

const row: readonly OpenCell[] = [2, 0.5, 0, 1, "n", 700];

describe("a model that is open", () => {
  it("compiles only at the first call of a kind, for any later arguments", async () => {
    const own = openGraphs({ threads: 1 });
    let opened: string[] = [];
    const graphs: Graphs = {
      ...own,
      take: (name, rows, open, use) =>
        own.take(
          name,
          rows,
          (engine) => {
            opened.push(name);
            return open(engine);
          },
          use,
        ),
    };
    const table = openedTable(fitted(), graphs);
    const likely = conditionTable(table, "condition", ({ share }, { by }) => mul(share, by), {
      observed: { by: [] },
    });
    const few = { evaluations: 13 };
    const calls = async (k: number): Promise<readonly unknown[]> => [
      await drawRows(table, { count: 3, seed: k, evaluations: 5 + k }),
      await sampleGiven(table, { share: 0.1 + k / 10 }, { count: 3, seed: k, evaluations: 5 + k }),
      // Another missing value, and other cells that are there.
      await completeRows(table, [row.with(k % 2, null)], { draws: 3, evaluations: 5 }),
      await tableLogLikelihood(table, [row.with(1, 0.1 + k / 10)], few),
      await tableLogLikelihood(table, [row.with(0, null).with(1, 0.1 + k / 10)], {
        ...few,
        spread: 8 - k,
      }),
      await likely({ particles: 4, steps: 3, observed: { by: 1 + k } }),
    ];
    const first = await calls(0);
    const missing = `flow of rows with missing values, ${domain.dimension} directions`;
    expect(opened).toEqual(["rows", "given", "flow of rows", missing, "condition"]);
    opened = [];
    expect(await calls(0)).toEqual(first);
    for (const [i, other] of (await calls(1)).entries()) expect(other).not.toEqual(first[i]);
    // A spread of 7 is another number of rows; which cells are missing changes nothing.
    expect(opened).toEqual([missing]);
    await graphs.dispose();
  });

  it("cannot sample after it is disposed", async () => {
    const model = openTable(fitted(), { threads: 1 });
    const { rows } = await model.sample({ count: 2, evaluations: 3 });
    expect(rows).toHaveLength(2);
    await model.dispose();
    await expect(model.sample({ count: 2, evaluations: 3 })).rejects.toThrow(
      "this model was disposed. Read or fit it again.",
    );
    await expect(model.logLikelihood([row])).rejects.toThrow("this model was disposed");
  });
});
