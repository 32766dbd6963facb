/**
 * The controls of a call: w, c and the strengths of guidance. They are inputs of graphs. The
 * controls in use are part of a graph's name, so a process without controls has no extra cost.
 */
import { fail, mul, type Tensor } from "../graph/index.ts";
import {
  dilateTime,
  type Factor,
  guide,
  type Process,
  type ReverseProcess,
  scaleDrift,
  twist,
} from "../sde/index.ts";
import { climbing } from "../sde/twist.ts";
import type { NamedTensors } from "./compiler.ts";
import type { DrawOptions, KnownPoints, OpenOptions } from "./options.ts";
import type { Solver } from "./solver.ts";

/** The guidance options of an open sampler. */
export type Leads = Pick<OpenOptions, "energy" | "likelihood" | "given" | "aim">;

export interface Controls {
  /** The controls by name. */
  readonly values: Readonly<Record<string, number>>;
  /** Distinguishes graphs with these controls from others. */
  readonly name: string;
}

/** The prefix of aims, whose names are chosen by the caller. */
const AIM = "aim ";

/** Checks the controls of a call. */
export function controlsOf(
  options: DrawOptions,
  { energy, likelihood, aim }: Leads,
  { name, scalable = true }: Pick<Solver, "name" | "scalable">,
): Controls {
  const { driftScale: w = 1, timeDilation: c = 1, guidance = 1, known, aims = {} } = options;
  const strength = known?.strength ?? 1;
  if (!Number.isFinite(w))
    fail("usage", `\`driftScale\` is ${w}`, "give a finite number; 1 leaves the process as it is");
  if (!(c > 0 && c < Infinity))
    fail(
      "usage",
      `\`timeDilation\` is ${c}`,
      "give a positive number; 1 leaves the process as it is",
    );
  if (!scalable && (w !== 1 || c !== 1))
    fail(
      "usage",
      `${name}: the corrector would undo \`driftScale\` and \`timeDilation\``,
      "use domainPreserving with them, or leave them at 1",
    );
  if (!Number.isFinite(guidance))
    fail("usage", `\`guidance\` is ${guidance}`, "give a finite number; 0 turns it off");
  if (options.guidance !== undefined && !energy)
    fail(
      "usage",
      "`guidance` is set, but the sampler has no energy",
      "open the sampler with `energy`",
    );
  if (!Number.isFinite(strength))
    fail(
      "usage",
      `known: \`strength\` is ${strength}`,
      "give a finite number; 0 turns the likelihood off",
    );
  const wanted = Object.entries(aims);
  if (wanted.length > 0 && !aim)
    fail("usage", "`aims` are set, but the sampler has no aim", "open the sampler with `aim`");
  for (const [what, number] of wanted)
    if (!Number.isFinite(number))
      fail("usage", `aims: ${what} is ${number}`, "give a finite number");
  const values = {
    ...Object.fromEntries(wanted.map(([what, number]) => [AIM + what, number])),
    ...(energy && { guidance }),
    ...(known && likelihood && strength !== 0 && { strength }),
    ...(c !== 1 && { c, cExcess: c - 1, cRoot: Math.sqrt(c) }),
    ...(w !== 1 && { w, wExcess: w - 1 }),
  };
  return {
    values,
    name: Object.keys({ ...values, ...(known && { known }) })
      .map((part) => ` ${part}`)
      .join(""),
  };
}

/**
 * Applies the controls to a process in a graph: guidance, known values, and scaled time and drift.
 * Graphs of one run share `seen`, so that each function is checked once.
 */
export function applyControls(
  process: Process,
  { energy, likelihood, given, aim }: Leads,
  values: NamedTensors,
  known?: KnownPoints,
  seen?: Set<string>,
): Process {
  const { guidance, strength, w, wExcess, c, cExcess, cRoot } = values;
  const aims = Object.entries(values).flatMap(([name, value]) =>
    name.startsWith(AIM) ? [[name.slice(AIM.length), value] as const] : [],
  );
  let run = given && known ? given(known) : process;
  if (aim && aims.length > 0) {
    const of = (x: Tensor, t: Tensor): Tensor => aim(x, t, Object.fromEntries(aims));
    run = twist(scored(run, "aim"), of, { delta: climbing(of, process.eventRank, "aim", seen) });
  }
  if (energy && guidance) run = guide(scored(run, "energy"), energy, guidance);
  if (likelihood && known && strength) {
    const of = (x: Tensor, t: Tensor): Tensor => likelihood(x, t, known);
    const uphill = climbing(of, process.eventRank, "likelihood", seen);
    const delta = (x: Tensor, t: Tensor): Tensor => mul(uphill(x, t), strength);
    run = twist(scored(run, "likelihood"), (x, t) => mul(of(x, t), strength), { delta });
  }
  if (c) run = dilateTime(run, { value: c, excess: cExcess, root: cRoot });
  if (w) run = scaleDrift(run, { value: w, excess: wExcess } satisfies Factor);
  return run;
}

function scored(process: Process, option: string): ReverseProcess {
  if (!process.score || !process.velocity)
    fail(
      "usage",
      `${option}: ${process.name} has no score to add to`,
      "make it with reverse or reversePush",
    );
  return process as ReverseProcess;
}
