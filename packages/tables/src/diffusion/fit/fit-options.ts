/** The options of a fit, checked before anything is computed. */
import type { Domain } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { type FlowKind, flowKinds, networkKinds } from "../network/index.ts";
import type { TrainingOptions } from "./training-options.ts";

/** The names of what weights may be chosen by. */
export const weightChoices = ["loss", "distance"] as const;
/** What the weights of a fit are chosen by. */
export type WeightChoice = (typeof weightChoices)[number];

interface Asked extends Pick<TrainingOptions, "network" | "steps" | "minutes"> {
  readonly columns: Readonly<Record<string, Domain>>;
  readonly held?: number;
  readonly choose?: WeightChoice;
  readonly flow?: FlowKind | object;
}

/** Rows below which there is nothing to learn from. */
export const LEAST_ROWS = 10;

const isDomain = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "encode" in value && "map" in value;

const oneOf = (name: string, value: unknown, kinds: readonly string[]): void => {
  if (!kinds.includes(value as string))
    fail("usage", `${name} is ${JSON.stringify(value)}`, `use ${kinds.join(" or ")}`);
};

/** Raises an error where rows are too few, or an option is invalid. */
export function requireFit(rows: readonly unknown[], options: Asked): void {
  const {
    columns,
    network = "diffusion",
    flow = "affine",
    held = 0.1,
    choose = "loss",
    steps = 1,
    minutes = 1,
  } = options;
  if (typeof columns !== "object" || columns === null)
    fail("usage", `columns is ${String(columns)}`, "give domains by the names of the columns");
  for (const [name, domain] of Object.entries(columns))
    if (!isDomain(domain))
      fail(
        "usage",
        `columns: "${name}" is ${JSON.stringify(domain)}, no domain`,
        "make one, as positive() does",
      );
  if (rows.length < LEAST_ROWS)
    fail(
      "data",
      `${rows.length} ${rows.length === 1 ? "row is" : "rows are"} too few to fit and to measure`,
      `give at least ${LEAST_ROWS}`,
    );
  if (!(held > 0 && held < 1)) fail("usage", `held is ${held}`, "give a share between 0 and 1");
  if (!(Number.isSafeInteger(steps) && steps >= 1))
    fail("usage", `steps is ${steps}`, "give an integer, at least 1");
  if (!(Number.isFinite(minutes) && minutes > 0))
    fail("usage", `minutes is ${minutes}`, "give a number above 0");
  oneOf("network", network, networkKinds);
  oneOf("choose", choose, weightChoices);
  if (network === "masked" && options.flow !== undefined)
    fail(
      "usage",
      "a network of masked cells takes no flow",
      "leave out the flow, or fit by diffusion",
    );
  if (typeof flow !== "object") oneOf("flow", flow, flowKinds);
}
