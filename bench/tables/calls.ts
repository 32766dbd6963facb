/**
 * The cost of a call of an open model compared with a call that opens it: milliseconds of processor
 * time, the median of ten calls with different cells or seeds, on one thread. The model is fitted
 * to the mixed table for a few steps; its network has the default size.
 */
import { mul, square, sub } from "diffeo/graph";
import { key } from "diffeo/random";
import { fitTable, openTable, type TableModel } from "diffeo-tables";
import { columns, rowsOf } from "../mixed.ts";
import { median } from "../timing.ts";

const CALLS = 10;
const engine = { threads: 1 } as const;

const processor = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

type Call = (model: TableModel, k: number) => Promise<unknown>;

/** The calls, each with different arguments every time. */
function calls(): Readonly<Record<string, (model: TableModel) => Call>> {
  const rows = rowsOf(CALLS, key("calls"));
  const share = (k: number): number => (k + 0.5) / CALLS;
  const near = (model: TableModel) =>
    model.condition(({ size }, { seen }) => mul(square(sub(size, seen)), -50), {
      observed: { seen: [] },
    });
  const plain = (call: Call) => () => call;
  return {
    "draw 10 rows": plain((model, seed) => model.sample({ count: 10, seed })),
    "draw 10 rows given a cell": plain((model, k) =>
      model.sample({ count: 10, given: { share: share(k) } }),
    ),
    "draw 500 rows given a cell": plain((model, k) =>
      model.sample({ count: 500, given: { share: share(k) } }),
    ),
    "complete a row 20 times": plain((model, k) =>
      model.complete([rows[k].with(k % 2, Number.NaN)], { draws: 20 }),
    ),
    "score a row": plain((model, k) => model.logLikelihood([rows[k]])),
    "score a row with a missing value": plain((model, k) =>
      model.logLikelihood([rows[k].with(0, Number.NaN)]),
    ),
    "score a row by 100 evaluations": plain((model, k) =>
      model.logLikelihood([rows[k]], { evaluations: 100 }),
    ),
    "condition 100 particles, 20 steps": (open) => {
      const kept = near(open);
      return (model, k) =>
        (model === open ? kept : near(model))({
          particles: 100,
          steps: 20,
          observed: { seen: share(k) },
        });
    },
  };
}

/** Each call with its time if the model is opened for it, and if it is open. */
export async function timedCalls(
  steps: number,
  tell: (name: string, anew: number, open: number) => void,
) {
  const model = await fitTable(rowsOf(2000, key("train")), { columns, steps, ...engine });
  for (const [name, callOf] of Object.entries(calls())) {
    const call = callOf(model);
    const [anew, open]: number[][] = [[], []];
    const timed = async (of: TableModel, k: number, into: number[]): Promise<void> => {
      const began = processor();
      await call(of, k);
      into.push(processor() - began);
    };
    // The first call compiles.
    await call(model, 0);
    for (let k = 0; k < CALLS; k++) {
      const own = openTable(model, engine);
      await timed(own, k, anew);
      await own.dispose();
      await timed(model, k, open);
    }
    tell(name, median(anew), median(open));
  }
  await model.dispose();
}
