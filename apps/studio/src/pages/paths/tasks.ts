/**
 * What the page of paths has computed: a variance-preserving diffusion of a mixture, whose score is
 * known at every time, forward and in reverse, in x and in y = φ(x), on one Brownian path each way.
 * Reverse(φ(X)) is stepped in y, by Euler–Maruyama and by Milstein; φ(Reverse(X)) is stepped in x
 * and mapped (`appendix:reverse_time_ito_lemma`). All in float64.
 */

import { sampleFrom } from "diffeo/distribution";
import { type Compiled, compile } from "diffeo/engine";
import type { NdArray, Tensor } from "diffeo/graph";
import { fold, key } from "diffeo/random";
import {
  brownianPath,
  eulerMaruyama,
  milstein,
  type NoiseSource,
  openSampler,
  uniformGrid,
} from "diffeo/sampler";
import { pushedScore, pushLogDensity } from "diffeo/score";
import { forward, linearSchedule, type Process, push, reverse, reversePush, vp } from "diffeo/sde";
import { task } from "../../shell/rpc.ts";
import { type Frame, gridLines, lattice } from "../../view/frame.ts";
import {
  type Ask,
  type Back,
  COUNT,
  type Ends,
  type Ground,
  type Outward,
  type SpaceName,
  STEPS,
  T_END,
  type Update,
  type Way,
} from "./shapes.ts";
import { type PathSpace, spaces } from "./spaces.ts";

const float64 = { type: "float64", device: "cpu" } as const;
const SHADES = 120;
const sde = vp({ schedule: linearSchedule({ min: 0.1, max: 12 }) });
const FINEST = STEPS[STEPS.length - 1];
const BACK_TIMES = uniformGrid(1, T_END, FINEST);
const OUT_TIMES = uniformGrid(0, 1, 256);

const numbers = ({ data }: NdArray): Float64Array => data as Float64Array;
const rows = (data: Float64Array, n: number): NdArray => ({
  shape: [data.length / n, n],
  dtype: "float64",
  data,
});

/** Everything of a space that is compiled once. */
async function openSpace(name: SpaceName) {
  const space = spaces[name]();
  const { phi, law, dimension: n } = space;
  const { meanFactor, std } = sde.transition;
  const score = (x: Tensor, t: Tensor): Tensor => law.marginal(meanFactor(t), std(t)).score(x);
  const inY = reversePush(sde, phi, score);
  // Transformed first, then reversed, in y and through nothing but the score in y. The chart is
  // there to tell what is outside.
  const transformed: Process = {
    ...reverse(push(sde, phi), (y: Tensor, t: Tensor) =>
      pushedScore(phi, (x, s) => score(x, s as Tensor))(y, t),
    ),
    ...(inY.chart && { chart: inY.chart }),
  };
  const shape = [n];
  const hold = { onExit: "hold" } as const;
  const [outX, outY, domain, euler, order1] = await Promise.all([
    openSampler(forward(sde), { shape, solver: "eulerMaruyama", ...float64 }),
    openSampler(forward(sde, phi), { shape, solver: milstein(hold), ...float64 }),
    openSampler(inY, { shape, solver: "domainPreserving", ...float64 }),
    openSampler(transformed, { shape, solver: eulerMaruyama(hold), ...float64 }),
    openSampler(transformed, { shape, solver: milstein(hold), ...float64 }),
  ]);
  const point = [null, n];
  const logp = (x: Tensor, t: Tensor): Tensor => law.marginal(meanFactor(t), std(t)).logDensity(x);
  const graphs = {
    forward: compile((x: Tensor) => phi.forward(x), [point], float64),
    inverse: compile((y: Tensor) => phi.inverse(y), [point], float64),
    noised: compile((x: Tensor, t: Tensor) => logp(x, t), [point, [null]], float64),
    logq: compile(
      (y: Tensor, t: Tensor) => {
        const x = phi.inverse(y);
        return pushLogDensity(phi, x, logp(x, t));
      },
      [point, [null]],
      float64,
    ),
  };
  const all = [
    outX,
    outY,
    domain,
    euler,
    order1,
    ...(Object.values(graphs) as Compiled<never, unknown>[]),
  ];
  return {
    name,
    space,
    outX,
    outY,
    domain,
    euler,
    order1,
    ...graphs,
    dispose: () => Promise.all(all.map((one) => one.dispose())),
  };
}
type Opened = Awaited<ReturnType<typeof openSpace>>;

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

/**
 * The law at t = 0 over a plane; over the time of a line, its marginals. Under both, the grid of x.
 */
async function grounds({ space, noised, logq, forward: map }: Opened): Promise<[Ground, Ground]> {
  const { frameX, frameY, dimension: n, lift } = space;
  const shadesOf = async (
    frame: Frame,
    f: typeof noised,
    at: (u: number, v: number) => number[],
  ): Promise<Float32Array> => {
    const u = lattice(frame, SHADES);
    const places = [...Array(u.length / 2).keys()];
    const points = Float64Array.from(places.flatMap((i) => at(u[2 * i], u[2 * i + 1])));
    const times = Float64Array.from(places, (i) =>
      n === 1 ? (u[2 * i] - frame.low[0]) / frame.size : 0,
    );
    return Float32Array.from(numbers(await f(rows(points, n), times)));
  };
  const lines = n === 2 ? gridLines({ low: [-7, -7], size: 14 }, 14, 141) : levels(frameX);
  const whole = Float64Array.from(
    lines.flatMap((line) => (n === 2 ? [...line] : [...line].filter((_, i) => i % 2 === 1))),
  );
  const y = numbers(await map(rows(whole, n)));
  const along = lines[0].length / 2;
  const seenY = lines.map((line, k) => {
    const out = new Float32Array(2 * along);
    for (let i = 0; i < along; i++)
      out.set(space.see(y, k * along + i, line[2 * i] / frameX.size), 2 * i);
    return out;
  });
  return [
    {
      frame: frameX,
      shades: await shadesOf(frameX, noised, (u, v) => (n === 2 ? [u, v] : [v])),
      grid: lines.map((l) => Float32Array.from(l)),
    },
    { frame: frameY, shades: await shadesOf(frameY, logq, lift), grid: seenY },
  ];
}

/** Lines of equal x over time. */
const levels = ({ low, size }: Frame): Float64Array[] =>
  Array.from({ length: 2 * size + 1 }, (_, k) =>
    Float64Array.of(0, low[1] + k / 2, size, low[1] + k / 2),
  );

/** The increments of a path, kept for as long as the same ones are asked for again. */
function remembered(path: NoiseSource): NoiseSource {
  const kept = new Map<string, Float32Array | Float64Array>();
  return (draw) => {
    const name = `${draw.from} ${draw.to}`;
    const found = kept.get(name) ?? path(draw);
    kept.set(name, found);
    return found;
  };
}

interface Taken {
  readonly ends: Float64Array;
  readonly exits: number;
  /** The first sample at every time. */
  readonly path: Float64Array;
}

type Draw = Opened["domain"];

async function take(
  draw: Draw,
  n: number,
  start: NdArray,
  grid: readonly number[],
  noise: NoiseSource,
  {
    w,
    signal,
    follow,
  }: { readonly w: number; readonly signal: AbortSignal; readonly follow: boolean },
): Promise<Taken> {
  const path = [...numbers(start).subarray(0, n)];
  const { samples, exits } = await draw({
    start,
    grid,
    noise,
    signal,
    key: key("paths"),
    ...(w !== 1 && { driftScale: w }),
    ...(follow && {
      onStep: async ({ points }) => void path.push(...numbers(await points()).subarray(0, n)),
    }),
  });
  return { ends: numbers(samples), exits, path: Float64Array.from(path) };
}

function seenPath(
  see: PathSpace["see"],
  path: Float64Array,
  times: readonly number[],
): Float32Array {
  const out = new Float32Array(2 * times.length);
  times.forEach((t, i) => {
    out.set(see(path, i, t), 2 * i);
  });
  return out;
}

function endsOf({ space }: Opened, { ends, exits }: Pick<Taken, "ends" | "exits">): Ends {
  const count = ends.length / space.dimension;
  const points = new Float32Array(2 * count);
  let near = 0;
  for (let i = 0; i < count; i++) {
    points.set(space.see(ends, i, (i + 0.5) / count), 2 * i);
    if (space.margin(ends, i) < space.near) near++;
  }
  return { points, exits, near: near / count };
}

function meanDistance(a: Float64Array, b: Float64Array, n: number): number {
  let total = 0;
  for (let i = 0; i < a.length; i += n) {
    let square = 0;
    for (let k = i; k < i + n; k++) square += (a[k] - b[k]) ** 2;
    total += Math.sqrt(square);
  }
  return (total * n) / a.length;
}

/** Draws from the law itself, to know how many are near the boundary. */
const EXACT = 20_000;

/** The way out of a seed, and what the ways back begin with. */
interface Out {
  readonly name: string;
  readonly outward: Outward;
  /** φ(X_T) of every path. */
  readonly start: NdArray;
  readonly back: NoiseSource;
}
let lastOut: Out | undefined;

/**
 * On one Brownian path in x and in y. It does not depend on w: a slider over w does not ask for it
 * again.
 */
async function wayOut(space: Opened, seed: number, signal: AbortSignal): Promise<Out> {
  const name = `${space.name} ${seed}`;
  if (lastOut?.name === name) return lastOut;
  const { dimension: n, law, see, seeX, margin, near: close } = space.space;
  const root = key(seed);
  const at = { w: 1, signal, follow: true };
  const x0 = sampleFrom(law, fold(root, "data"), COUNT, "float64");
  const path = remembered(brownianPath(fold(root, "out"), OUT_TIMES));
  const outX = await take(space.outX, n, x0, OUT_TIMES, path, at);
  const outY = await take(space.outY, n, await space.forward(x0), OUT_TIMES, path, at);
  const [x, y] = await grounds(space);
  const many = numbers(await space.forward(sampleFrom(law, fold(root, "exact"), EXACT, "float64")));
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

/** The ways back in so many steps, all on one path; that in x is reported when it is there. */
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

/** The way out, then the way back in every number of steps, the one that is looked at first. */
export const run = task<Ask, Update, null>(
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

/** Compiles what another w needs, so that moving its slider does not wait: one step of each. */
export const prepare = task<Pick<Ask, "space" | "seed">, never, null>(
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
