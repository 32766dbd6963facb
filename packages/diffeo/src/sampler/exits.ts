/**
 * Start and end points of a run, steps that leave the domain, and the errors for NaN and infinity.
 * Points are clipped only if the caller requests it, and clips are counted.
 */
import { alignToEvent, contains, sumEvent } from "../bijector/index.ts";
import {
  add,
  cast,
  constant,
  div,
  equal,
  fail,
  less,
  logicalNot,
  mul,
  type NdArray,
  square,
  sum,
  type Tensor,
  where,
} from "../graph/index.ts";
import { convert, sizeOf } from "../graph/ndarray.ts";
import { fold, sampleKeys } from "../random/index.ts";
import { type Process, scoreAt } from "../sde/index.ts";
import type { Batch, OpenedSampler } from "./batch.ts";
import type { DrawOptions } from "./options.ts";
import type { Solver, StepIn } from "./solver.ts";

/** Maps a point of the space of the steps to x. */
const toX = ({ chart }: Process, stepIn: StepIn, point: Tensor, t: Tensor): Tensor =>
  chart && stepIn === "y" ? chart.phi.inverse(point, t) : point;

/** Maps a point of the space of the steps to the space of the process. */
export const toProcess = ({ chart }: Process, stepIn: StepIn, point: Tensor, t: Tensor): Tensor =>
  chart && stepIn === "x" ? chart.phi.forward(point, t) : point;

/** `start`, or samples of the prior, as points of the space of the steps. */
export async function startingPoints(batch: Batch, t: number): Promise<NdArray> {
  const { process, options, type, event, build, solver } = batch;
  const { prior, name } = process;
  const phi = process.chart?.phi;
  if (options.start) {
    const start = {
      ...options.start,
      dtype: type,
      data: convert(options.start.data as Float64Array, type),
    };
    const bad = firstNotFinite(start);
    if (bad !== undefined)
      fail(
        "usage",
        `\`start\` has ${start.data[bad]} at the flat index ${bad}`,
        "give finite numbers",
      );
    if (!phi) return start;
    const check = build(
      "start",
      (y: Tensor, s: Tensor) => [contains(phi, y, s), phi.inverse(y, s)],
      [[null, ...start.shape.slice(1)], []],
    );
    const [inside, x] = await check(start, t);
    const outside = inside.data.findIndex((v: number | bigint) => !v);
    if (outside >= 0)
      fail(
        "usage",
        `\`start\`: point ${batch.first + outside} of ${inside.data.length} is outside the ` +
          `domain of ${phi.name}`,
        "give points in the image of the map",
      );
    return solver.stepIn === "y" ? start : x;
  }
  if (!prior)
    fail(
      "usage",
      `${name} has no prior to start from`,
      "give `start`, or reverse an SDE with a prior",
    );
  const keys = sampleKeys(fold(options.key, "start"), batch.count, batch.first);
  const x = prior.sample(keys, event, type);
  if (!phi || solver.stepIn === "x") return x;
  return build("image of start", (p: Tensor, s: Tensor) => phi.forward(p, s), [
    [null, ...event],
    [],
  ])(x, t);
}

/** The time of the last points: 0 if they are estimates of x₀, else the end of the steps. */
export const finalTime = ({ denoise }: OpenedSampler, tEnd: number): number => (denoise ? 0 : tEnd);

/**
 * The last points in the space of the process: denoised if requested, with known coordinates set to
 * their values.
 */
export function finalPoints(
  { denoise, solver: { stepIn } }: OpenedSampler,
  process: Process,
  point: Tensor,
  t: Tensor,
  settle: (x: Tensor) => Tensor = (x) => x,
): Tensor {
  const { transition, score, name, chart, eventRank } = process;
  if (!denoise) return toProcess(process, stepIn, settle(point), t);
  if (!transition || !score)
    fail(
      "usage",
      `\`denoise\`: ${name} has no Gaussian transition or no score`,
      "leave denoise out",
    );
  const { meanFactor, std } = transition;
  // Tweedie: E[x₀ | x] = (x + σ² ∇ log p_t(x)) / m
  const x = toX(process, stepIn, point, t);
  const mean = settle(
    div(add(x, mul(scoreAt(score, x, t, eventRank), square(std(t)))), meanFactor(t)),
  );
  return chart ? chart.phi.forward(mean, constant(0, mean.dtype)) : mean;
}

/**
 * The result of a step (`landed`), the point after `onExit` (`next`), and how many events left the
 * domain, were changed by `onExit`, and are still outside. The loop checks `landed`, because NaN is
 * an error whatever `onExit` does.
 */
export function guardExits(
  { eventRank, chart }: Process,
  { stepIn, onExit }: Solver,
  from: Tensor,
  landed: Tensor,
  t: Tensor,
) {
  const zero = constant(0, landed.dtype);
  const phi = chart?.phi;
  if (!phi || stepIn === "x") return { next: landed, exits: zero, clamps: zero, lost: zero };
  const count = (flags: Tensor): Tensor => sum(cast(flags, landed.dtype));
  const out = logicalNot(contains(phi, landed, t));
  const exits = count(out);
  if (onExit === "fail") return { next: landed, exits, clamps: zero, lost: exits };
  if (onExit === "hold")
    return {
      landed,
      next: where(alignToEvent(out, eventRank), from, landed),
      exits,
      clamps: exits,
      lost: zero,
    };
  const put = onExit(landed);
  const changed = less(
    0.5,
    sumEvent(cast(logicalNot(equal(put, landed)), landed.dtype), eventRank),
  );
  return {
    landed,
    next: put,
    exits,
    clamps: count(changed),
    lost: count(logicalNot(contains(phi, put, t))),
  };
}

/** The flat index of the first NaN or infinity. */
export function firstNotFinite({ data }: NdArray): number | undefined {
  const values = data as Float64Array;
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return i;
  return undefined;
}

/** A step: its number, counted from 0, and its ends. */
export interface TimeStep {
  readonly step: number;
  readonly from: number;
  readonly to: number;
}

const stepText = ({ step, from, to }: TimeStep): string =>
  `step ${step + 1}, from t = ${from} to ${to}`;

/** The remedy for numbers that are not finite: if the drift is scaled, check that first. */
const remedyFor = ({ driftScale: w = 1 }: DrawOptions, otherwise: string): string =>
  w === 1 ? otherwise : `the drift is scaled by \`driftScale\` ${w}: try a number closer to 1`;

/** Throws if the score at these points is NaN at one end of the step. */
export async function blameScore(
  { process, options, build, first, count, solver }: Batch,
  points: NdArray,
  step: TimeStep,
): Promise<void> {
  const { score, eventRank } = process;
  if (!score) return;
  const look = build(
    "score",
    (p: Tensor, t: Tensor) => scoreAt(score, toX(process, solver.stepIn, p, t), t, eventRank),
    [[null, ...points.shape.slice(1)], []],
  );
  for (const t of [step.from, step.to]) {
    const values = await look(points, t);
    const bad = firstNotFinite(values);
    if (bad === undefined) continue;
    const sample = first + Math.floor(bad / (values.data.length / count));
    fail(
      "numerical",
      `${process.name}: the score is ${values.data[bad]} for sample ${sample} at t = ${t} ` +
        `(${stepText(step)})`,
      remedyFor(options, "check that the score is finite at that time and at such points"),
    );
  }
}

/**
 * Throws the error for numbers that are not finite: of the score if it is not finite at the last
 * finite points, else of the step.
 */
export async function failNotFinite(
  batch: Batch,
  before: NdArray,
  at: number,
  step: TimeStep,
): Promise<never> {
  await blameScore(batch, before, step);
  const sample = batch.first + Math.floor(at / (sizeOf(before.shape) / batch.count));
  fail(
    "numerical",
    `${batch.process.name}: sample ${sample} is not finite after ` +
      `${stepText(step)}, although its score was`,
    remedyFor(batch.options, "use smaller steps, a larger tEnd, or float64"),
  );
}

export function failOutside(
  { process, count, solver }: Batch,
  left: number,
  step: TimeStep,
): never {
  const { name } = process;
  const domain = process.chart?.phi.name;
  if (typeof solver.onExit === "function")
    fail(
      "usage",
      `${name}: onExit left ${left} of ${count} samples outside the domain of ${domain} in ` +
        `${stepText(step)}`,
      "return points strictly inside the domain",
    );
  fail(
    "numerical",
    `${name}: ${left} of ${count} samples left the domain of ${domain} in ${stepText(step)}`,
    'step in x (domainPreserving, or stepIn "x"), take smaller steps, or say with onExit ' +
      "what to do",
  );
}
