/**
 * npm run bench -- guide: conditions on boards, by guidance compared with rejection. How many
 * boards are sampled for one that meets a condition, and the quality of those that do. Rejection
 * gives the model's distribution given the condition; guidance approximates it.
 *
 *   --boards 200 --steps 49 --device cpu --model FILE    what to sample
 *   --from FOLDER                                        boards sampled before: plain.fen and NAME.fen
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadModel } from "diffeo/node";
import { key } from "diffeo/random";
import {
  boardAt,
  layOut,
  legalityShares,
  materialOf,
  meanAndSd,
  openBoards,
  type Positions,
  parseCondition,
  select,
} from "diffeo-chess";
import { readPositions, shippedModel } from "diffeo-chess/node";

const CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    [6, 8, 12, 16, 20, 24, 28, 31].map((n) => [`pieces-${n}`, [`pieces=${n}`]]),
  ),
  "guide-no-queens": ["Q=0", "q=0"],
  "guide-even-20": ["balance>=-1", "balance<=1", "pieces=20"],
  "guide-ahead": ["balance>=5"],
};

type Draw = (name: string, conditions: readonly string[]) => Promise<Positions | undefined>;

const within = (mean: number, sd: number, count: number, digits = 2): string =>
  `${mean.toFixed(digits)} ± ${(sd / Math.sqrt(count)).toFixed(digits)}`;
const share = (p: number, n: number): string =>
  within(p, Math.sqrt(Math.max(p * (1 - p), 1 / n)), n, 3);

/** The quality of the boards that meet the conditions, and their share of all boards. */
function row(label: string, by: string, drawn: Positions, conditions: readonly string[]): string[] {
  const tests = conditions.map((text) => parseCondition(text).holds);
  const numbers = Array.from({ length: drawn.count }, (_, i) => i);
  const met = select(
    drawn,
    numbers.filter((i) => tests.every((holds) => holds(boardAt(drawn, i)))),
  );
  const all = meanAndSd(materialOf(drawn).pieces);
  const cells = [
    label,
    by,
    within(all.mean, all.sd, drawn.count),
    share(legalityShares(drawn).legal, drawn.count),
  ];
  if (met.count < 2) return [...cells, share(met.count / drawn.count, drawn.count)];
  const [pieces, balance] = [materialOf(met).pieces, materialOf(met).balance].map(meanAndSd);
  return [
    ...cells,
    share(met.count / drawn.count, drawn.count),
    share(legalityShares(met).legal, met.count),
    within(pieces.mean, pieces.sd, met.count),
    within(balance.mean, balance.sd, met.count),
    balance.sd.toFixed(2),
  ];
}

async function drawing(file: string, count: number, steps: number, device: string): Promise<Draw> {
  const draw = await openBoards(await loadModel(file), { device });
  return async (_, conditions) =>
    (await draw({ count, key: key(5), steps, guide: conditions.map(parseCondition) })).positions;
}

const reading =
  (folder: string): Draw =>
  async (name) => {
    const file = join(folder, `${name}.fen`);
    return existsSync(file)
      ? (await readPositions(file, { distinct: false })).positions
      : undefined;
  };

export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      boards: { type: "string", default: "200" },
      steps: { type: "string", default: "49" },
      device: { type: "string", default: "cpu" },
      model: { type: "string", default: shippedModel },
      from: { type: "string" },
    },
  });
  const draw = values.from
    ? reading(values.from)
    : await drawing(values.model, Number(values.boards), Number(values.steps), values.device);
  const plain = (await draw("plain", [])) as Positions;
  const rows = [
    [
      "condition",
      "by",
      "pieces of all",
      "legal of all",
      "meets condition",
      "legal",
      "pieces",
      "balance",
      "balance SD",
    ],
  ];
  for (const [name, conditions] of Object.entries(CONDITIONS)) {
    const guided = await draw(name, conditions);
    if (!guided) continue;
    rows.push(
      row(conditions.join(", "), "rejection", plain, conditions),
      row("", "guidance", guided, conditions),
    );
  }
  process.stdout.write(layOut(rows));
}
