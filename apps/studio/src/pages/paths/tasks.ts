/**
 * The tasks of the page of paths: a variance-preserving diffusion of a mixture, whose score is
 * known at every time, forward and in reverse, in x and in y = φ(x), on one Brownian path per
 * direction. Reverse(φ(X)) is stepped in y, by Euler–Maruyama and by Milstein. φ(Reverse(X)) is
 * stepped in x and mapped (`appendix:reverse_time_ito_lemma`). All in float64.
 */
import { sampleFrom } from "diffeo/distribution";
import type { NdArray } from "diffeo/graph";
import { fold, key } from "diffeo/random";
import { brownianPath, type NoiseSource } from "diffeo/sampler";
import { task } from "../../shell/rpc.ts";
import { BACK_TIMES, FINEST, numbers, type Opened, OUT_TIMES, openSpace, rows } from "./graphs.ts";
import { grounds } from "./ground.ts";
import { endsOf, meanDistance, remembered, seenPath, take } from "./sampling.ts";
import {
  type Back,
  COUNT,
  type Outward,
  type RunRequest,
  type SpaceName,
  STEPS,
  T_END,
  type Update,
  type Way,
} from "./shapes.ts";

let opened: Promise<Opened> | undefined;
let openedName: SpaceName | undefined;
async function open(name: SpaceName): Promise<Opened> {
  if (openedName !== name) {
    const last = opened;
    openedName = name;
    opened = openSpace(name);
    await (await last)?.dispose();
  }
  return opened as Promise<Opened>;
}

/** Samples of the data for the share near the boundary. */
const EXACT = 20_000;

/** The forward path of a seed, and the start and noise of the reverse paths. */
interface Out {
  readonly name: string;
  readonly outward: Outward;
  /** φ(X_T) of every path. */
  readonly start: NdArray;
  readonly back: NoiseSource;
}
let lastOut: Out | undefined;

/**
 * The forward path in x and in y, on one Brownian path. It does not depend on w, so that moving the
 * slider of w does not compute it again.
 */
async function wayOut(space: Opened, seed: number, signal: AbortSignal): Promise<Out> {
  const name = `${space.name} ${seed}`;
  if (lastOut?.name === name) return lastOut;
  const { dimension: n, distribution, see, seeX, margin, near: close } = space.space;
  const root = key(seed);
  const at = { w: 1, signal, follow: true };
  const x0 = sampleFrom(distribution, fold(root, "data"), COUNT, "float64");
  const path = remembered(brownianPath(fold(root, "out"), OUT_TIMES));
  const outX = await take(space.outX, n, x0, OUT_TIMES, path, at);
  const outY = await take(space.outY, n, await space.forward(x0), OUT_TIMES, path, at);
  const [x, y] = await grounds(space);
  const many = numbers(
    await space.forward(sampleFrom(distribution, fold(root, "exact"), EXACT, "float64")),
  );
  const near = [...Array(EXACT).keys()].filter((i) => margin(many, i) < close).length / EXACT;
  const outward: Outward = {
    x,
    y,
    inX: seenPath(seeX, outX.path, OUT_TIMES),
    mapped: seenPath(see, numbers(await space.forward(rows(outX.path, n))), OUT_TIMES),
    inY: seenPath(see, outY.path, OUT_TIMES),
    near,
    margin: close,
  };
  const start = await space.forward(rows(outX.ends, n));
  lastOut = {
    name,
    outward,
    start,
    back: remembered(brownianPath(fold(root, "back"), BACK_TIMES)),
  };
  return lastOut;
}

/**
 * The reverse paths for one number of steps, on one Brownian path; `onWay` gets the one in x early.
 */
async function wayBack(
  space: Opened,
  { start, back }: Out,
  steps: number,
  {
    w,
    signal,
    onWay,
  }: { readonly w: number; readonly signal: AbortSignal; readonly onWay?: (way: Way) => void },
): Promise<Back> {
  const { dimension: n, see, seeX } = space.space;
  const grid = BACK_TIMES.filter((_, i) => i % (FINEST / steps) === 0);
  const how = { w, signal, follow: true };
  const domain = await take(space.domain, n, start, grid, back, how);
  const way: Way = {
    steps,
    dt: (1 - T_END) / steps,
    inX: seenPath(seeX, numbers(await space.inverse(rows(domain.path, n))), grid),
    mapped: seenPath(see, domain.path, grid),
    domain: endsOf(space, domain),
  };
  onWay?.(way);
  const order1 = await take(space.order1, n, start, grid, back, how);
  const euler = await take(space.euler, n, start, grid, back, { ...how, follow: false });
  return {
    ...way,
    inY: seenPath(see, order1.path, grid),
    euler: meanDistance(domain.ends, euler.ends, n),
    milstein: meanDistance(domain.ends, order1.ends, n),
    plain: endsOf(space, euler),
  };
}

/** The forward path, then the reverse paths for each number of steps, the selected one first. */
export const run = task<RunRequest, Update, null>(
  async ({ space: name, seed, w, first }, { report, signal }) => {
    const space = await open(name);
    signal.throwIfAborted();
    const out = await wayOut(space, seed, signal);
    report({ kind: "outward", outward: out.outward });
    const order = [...STEPS].sort((a, b) => Number(b === first) - Number(a === first) || a - b);
    const onWay = (way: Way): void => report({ kind: "way", way });
    for (const steps of order)
      report({
        kind: "back",
        back: await wayBack(space, out, steps, { w, signal, ...(steps === first && { onWay }) }),
      });
    return null;
  },
);

/**
 * Compiles the graphs for other values of w, so that its slider responds at once: one step of each.
 */
export const prepare = task<Pick<RunRequest, "space" | "seed">, never, null>(
  async ({ space: name, seed }, { signal }) => {
    if (openedName !== name) return null;
    const space = await open(name);
    const { start, back } = await wayOut(space, seed, signal);
    const how = { w: 1.01, signal, follow: false };
    for (const draw of [space.domain, space.euler, space.order1])
      await take(draw, space.space.dimension, start, BACK_TIMES.slice(0, 2), back, how);
    return null;
  },
);
