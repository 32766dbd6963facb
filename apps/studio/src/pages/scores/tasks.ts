/**
 * What the page of scores has computed, in float64: a law p in x, a map y = φ(x), and Theorem 1
 * (`thm:multi_dimensional`),
 *
 *   ∇ᵧ log q(y) = J⁻ᵀ∇ₓ log p(x) + ∇ᵧ log|det J_{φ⁻¹}(y)|
 *
 * its two terms apart, over a lattice and at one point, each beside central differences of log q
 * through φ⁻¹.
 */
import { contains, gradLogDet, pushCovector } from "diffeo/bijector";
import { checkMap, type MapReport } from "diffeo/check";
import { banana, type Density, gaussian, mixture } from "diffeo/distribution";
import { type Compiled, compile } from "diffeo/engine";
import {
  add,
  at,
  constant,
  expandDims,
  grad,
  mul,
  type NdArray,
  neg,
  reshape,
  sub,
  sum,
  type Tensor,
} from "diffeo/graph";
import { pushLogDensity, pushScore } from "diffeo/score";
import { task } from "../../shell/rpc.ts";
import { type Frame, gridLines, lattice } from "../../view/frame.ts";
import { type Expression, isMisread, type Misread, parseExpression } from "./expression.ts";
import { maps, type PlaneMap, plane, type Space } from "./maps.ts";
import type { Field, LawName } from "./names.ts";
import { ownMap } from "./own-map.ts";
import {
  ARROWS,
  type Ask,
  type Panel,
  type Reading,
  type Scene,
  SHADES,
  type Unread,
} from "./shapes.ts";

const float64 = { type: "float64", device: "cpu" } as const;
/** The step of central differences of fourth order. */
const H = 1e-5;

const LAW_OF: Readonly<Record<Exclude<LawName, "own">, () => Density>> = {
  gaussian: () =>
    gaussian({
      mean: [0.3, -0.2],
      covariance: [
        [1, 0.55],
        [0.55, 0.7],
      ],
    }),
  mixture: () =>
    mixture([
      { weight: 1.2, distribution: gaussian({ mean: [1.15, 0.5], covariance: [0.32, 0.22] }) },
      { distribution: gaussian({ mean: [-1.1, 1.05], covariance: 0.24 }) },
      {
        distribution: gaussian({
          mean: [-0.45, -1.15],
          covariance: [
            [0.55, 0.16],
            [0.16, 0.2],
          ],
        }),
      },
    ]),
  banana: () => banana({ length: 1, bend: 0.55 }),
};

/** The law of an expression for log p, up to a constant. */
function ownLaw(expression: Expression): Density {
  const logDensity = (x: Tensor): Tensor =>
    expression.build({ x1: at(x, 0, -1), x2: at(x, 1, -1) });
  return { logDensity, score: (x) => grad((z: Tensor) => sum(logDensity(z)))(x) };
}

/** p on the domain of φ. */
function lawOnDomain(law: Density, { from }: PlaneMap): Density {
  if (!from) return law;
  return {
    logDensity: (x) => {
      const z = from.inverse(x);
      return pushLogDensity(from, z, law.logDensity(z));
    },
    score: (x) => {
      const z = from.inverse(x);
      return pushScore(from, z, law.score(z));
    },
  };
}

/** What was asked for, or what of it cannot be read. */
function read({
  law,
  map,
  typed,
}: Ask): { readonly law: Density; readonly map: PlaneMap } | Unread {
  const fields: Partial<Record<Field, Misread>> = {};
  const expression = (field: Field, names: readonly string[]): Expression => {
    const parsed = parseExpression(typed[field], names);
    if (!isMisread(parsed)) return parsed;
    fields[field] = parsed;
    return { build: (given) => Object.values(given)[0], value: () => 0 };
  };
  const density = law === "own" ? ownLaw(expression("logp", ["x1", "x2"])) : LAW_OF[law]();
  const own = (): PlaneMap => {
    const back = typed.x1.trim() !== "" || typed.x2.trim() !== "";
    const forward = [expression("y1", ["x1", "x2"]), expression("y2", ["x1", "x2"])] as const;
    const inverse = back
      ? ([expression("x1", ["y1", "y2"]), expression("x2", ["y1", "y2"])] as const)
      : undefined;
    return { phi: ownMap(forward, inverse), image: plane };
  };
  const made = map === "own" ? own() : maps[map]();
  return Object.keys(fields).length > 0 ? { kind: "unread", fields } : { law: density, map: made };
}

/** −h … h along each axis of y, and the weights of ∂/∂yᵢ: (f₋₂ − 8f₋₁ + 8f₁ − f₂)/12h. */
const OFFSETS = [-2, -1, 1, 2];
const WEIGHTS = [1, -8, 8, -1].map((w) => w / (12 * H));

/** The functions of a scene as graphs, before they are compiled. */
function functionsOf(base: Density, map: PlaneMap) {
  const { phi, image } = map;
  const law = lawOnDomain(base, map);
  const logq = (y: Tensor, t: Tensor): Tensor => {
    const x = phi.inverse(y, t);
    return pushLogDensity(phi, x, law.logDensity(x), t);
  };
  /** ∇ᵧ log q by differences, all of them through φ⁻¹ in one batch. */
  const differences = (y: Tensor, t: Tensor): Tensor => {
    const m = y.shape.at(-1) as number;
    const count = y.shape[0];
    const moves = Array.from({ length: m }, (_, axis) =>
      OFFSETS.map((k) => [Array.from({ length: m }, (_, i) => (i === axis ? k * H : 0))]),
    ).flat();
    const moved = reshape(add(expandDims(y, 0), constant(moves, y.dtype)), [-1, m]);
    const values = reshape(logq(image.retract?.(moved) ?? moved, t), [m, OFFSETS.length, count]);
    const weighted = mul(
      values,
      constant(
        WEIGHTS.map((w) => [w]),
        y.dtype,
      ),
    );
    return reshape(sum(weighted, 1), [m, count]);
  };
  const scoreY = (x: Tensor, t: Tensor): Tensor => pushScore(phi, x, law.score(x), t);
  return {
    logp: (x: Tensor) => law.logDensity(x),
    scoreX: (x: Tensor) => law.score(x),
    forward: (x: Tensor, t: Tensor) => phi.forward(x, t),
    inverse: (y: Tensor, t: Tensor) => phi.inverse(y, t),
    logq: (y: Tensor, t: Tensor) => ({ inside: contains(phi, y, t), logq: logq(y, t) }),
    overY: (y: Tensor, t: Tensor) => {
      const x = phi.inverse(y, t);
      return { inside: contains(phi, y, t), score: scoreY(x, t), differences: differences(y, t) };
    },
    atX: (x: Tensor, t: Tensor) => {
      const y = phi.forward(x, t);
      const s = law.score(x);
      return {
        y,
        scoreX: s,
        carried: pushCovector(phi, x, s, t),
        own: neg(pushCovector(phi, x, gradLogDet(phi, x, t), t)),
        scoreY: scoreY(x, t),
        logp: law.logDensity(x),
        logq: sub(law.logDensity(x), phi.logDet(x, t)),
        differences: differences(y, t),
      };
    },
  };
}

/** A scene's functions, compiled as they are needed. */
function openGraphs(law: Density, map: PlaneMap) {
  const f = functionsOf(law, map);
  const m = map.image.dimension ?? 2;
  const [x, y, time] = [[null, 2], [null, m], []] as const;
  const graphs = {
    logp: compile(f.logp, [x], float64),
    scoreX: compile(f.scoreX, [x], float64),
    forward: compile(f.forward, [x, time], float64),
    inverse: compile(f.inverse, [y, time], float64),
    logq: compile(f.logq, [y, time], float64),
    overY: compile(f.overY, [y, time], float64),
    atX: compile(f.atX, [x, time], float64),
  };
  const dispose = (): Promise<unknown> =>
    Promise.all(
      Object.values(graphs).map((graph) => (graph as Compiled<never, unknown>).dispose()),
    );
  return { ...graphs, map, dimension: m, dispose };
}
type Graphs = ReturnType<typeof openGraphs>;

let current: { readonly key: string; readonly t: number; readonly graphs: Graphs } | undefined;

const points = (data: Float64Array, n: number): NdArray => ({
  shape: [data.length / n, n],
  dtype: "float64",
  data,
});
const numbers = ({ data }: NdArray): Float64Array => data as Float64Array;

/** Where points and arrows of three coordinates are seen: from in front, without the second. */
const seen = (data: ArrayLike<number>, i: number, m: number): [number, number] =>
  m === 2 ? [data[2 * i], data[2 * i + 1]] : [data[3 * i], data[3 * i + 2]];

const lifted = (space: Space, u: Float64Array): Float64Array => space.lift?.(u) ?? u;

/** The window onto the image of a map of one's own: around what p has its mass on. */
function windowOf(y: Float64Array, logp: Float64Array): Frame {
  const most = logp
    .filter(Number.isFinite)
    .reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const ends = [0, 1].map((axis) => {
    const values = [...logp.keys()]
      .filter((i) => logp[i] > most - 3.6 && Number.isFinite(y[2 * i + axis]))
      .map((i) => y[2 * i + axis])
      .sort((a, b) => a - b);
    const at = (share: number): number => values[Math.floor(share * (values.length - 1))] ?? 0;
    return [at(0.005), at(0.995)] as const;
  });
  const size = 1.15 * Math.max(0.02, ...ends.map(([a, b]) => b - a));
  return { low: ends.map(([a, b]) => (a + b - size) / 2) as [number, number], size };
}

/**
 * The largest |s − d|∞ / max(1, |s|∞) among the points that are inside; differences come axis by
 * axis.
 */
function errorOf(
  score: Float64Array,
  differences: Float64Array,
  m: number,
  inside?: NdArray,
): [number, number] {
  const count = score.length / m;
  let [worst, used] = [0, 0];
  for (let i = 0; i < count; i++) {
    if (inside && !inside.data[i]) continue;
    let [gap, size] = [0, 1];
    for (let k = 0; k < m; k++) {
      gap = Math.max(gap, Math.abs(score[i * m + k] - differences[k * count + i]));
      size = Math.max(size, Math.abs(score[i * m + k]));
    }
    if (!Number.isFinite(gap / size)) continue;
    worst = Math.max(worst, gap / size);
    used++;
  }
  return [worst, used];
}

/**
 * The lines of the grid in x, further out than the window: what is far in x is near the boundary in
 * y.
 */
const linesOf = (space: Space): Float64Array[] =>
  space.frame.outline
    ? gridLines(space.frame, 10, 161)
    : gridLines({ low: [-6, -6], size: 12 }, 12, 161);

async function panelX({ logp, scoreX, map }: Graphs): Promise<Panel> {
  const { frame } = map.domain ?? plane;
  const where = lattice(frame, ARROWS);
  return {
    frame,
    shades: Float32Array.from(numbers(await logp(points(lattice(frame, SHADES), 2)))),
    points: Float32Array.from(where),
    arrows: Float32Array.from(numbers(await scoreX(points(where, 2)))),
    grid: linesOf(map.domain ?? plane).map((line) => Float32Array.from(line)),
  };
}

async function gridY({ forward, map, dimension: m }: Graphs, t: number): Promise<Float32Array[]> {
  const lines = linesOf(map.domain ?? plane);
  const whole = Float64Array.from(lines.flatMap((line) => [...line]));
  const y = numbers(await forward(points(whole, 2), t));
  const along = lines[0].length / 2;
  return lines.map((_, k) => {
    const out = new Float32Array(2 * along);
    for (let i = 0; i < along; i++) {
      const front = map.image.front?.(y, k * along + i) ?? true;
      out.set(front ? seen(y, k * along + i, m) : [Number.NaN, Number.NaN], 2 * i);
    }
    return out;
  });
}

/** All of both panels. What was there before goes when another law or map comes. */
export const open = task<Ask, never, Scene | Unread>(async (ask, { signal }) => {
  const { law, map: name, typed, t } = ask;
  const key = JSON.stringify([law, name, (law === "own" || name === "own") && typed]);
  if (current?.key !== key) {
    const asked = read(ask);
    if ("kind" in asked) return asked;
    const last = current;
    current = { key, t, graphs: openGraphs(asked.law, asked.map) };
    await last?.graphs.dispose();
  }
  current = { ...current, t };
  const { graphs } = current;
  const { map, dimension: m } = graphs;
  const x = await panelX(graphs);
  signal.throwIfAborted();
  let { frame } = map.image;
  if (name === "own") {
    const where = lattice(x.frame, SHADES);
    frame = windowOf(
      numbers(await graphs.forward(points(where, 2), t)),
      Float64Array.from(x.shades),
    );
  }
  const image = { ...map.image, frame };
  const { logq, inside } = await graphs.logq(points(lifted(image, lattice(frame, SHADES)), m), t);
  signal.throwIfAborted();
  const where = lattice(frame, ARROWS);
  const over = await graphs.overY(points(lifted(image, where), m), t);
  signal.throwIfAborted();
  const [error, used] = errorOf(numbers(over.score), numbers(over.differences), m, over.inside);
  const arrows = new Float32Array(where.length);
  for (let i = 0; i < where.length / 2; i++)
    arrows.set(
      over.inside.data[i] ? seen(numbers(over.score), i, m) : [Number.NaN, Number.NaN],
      2 * i,
    );
  const shades = Float32Array.from(numbers(logq), (v, i) => (inside.data[i] ? v : Number.NaN));
  const y: Panel = {
    frame,
    shades,
    points: Float32Array.from(where),
    arrows,
    grid: await gridY(graphs, t),
  };
  return { kind: "scene", x, y, error, points: used };
});

/**
 * A point given in x, or by where it is seen in y. Nothing where no x leads there, or no number
 * comes of it.
 */
export const point = task<
  { readonly x: readonly number[] } | { readonly u: readonly number[] },
  never,
  Reading | undefined
>(async (ask) => {
  if (!current) return undefined;
  const { graphs, t } = current;
  const { map, dimension: m } = graphs;
  const x =
    "x" in ask
      ? Float64Array.from(ask.x)
      : numbers(await graphs.inverse(points(lifted(map.image, Float64Array.from(ask.u)), m), t));
  if (!x.every(Number.isFinite)) return undefined;
  const found = await graphs.atX(points(x, 2), t);
  const of = (a: NdArray): [number, number] => seen(numbers(a), 0, m);
  const [error] = errorOf(numbers(found.scoreY), numbers(found.differences), m);
  if (![...numbers(found.y), ...numbers(found.scoreY)].every(Number.isFinite)) return undefined;
  return {
    x: [...x],
    y: [...numbers(found.y)],
    seen: of(found.y),
    front: map.image.front?.(numbers(found.y), 0) ?? true,
    scoreX: [...numbers(found.scoreX)] as [number, number],
    carried: of(found.carried),
    own: of(found.own),
    scoreY: of(found.scoreY),
    logp: numbers(found.logp)[0],
    logq: numbers(found.logq)[0],
    error,
  };
});

/** The laws that every map must hold, on the map that was asked for. */
export const verdict = task<Ask, never, MapReport | Unread>(async (ask) => {
  const asked = read(ask);
  if ("kind" in asked) return asked;
  const { phi, from } = asked.map;
  return checkMap(phi, { event: [2], from });
});
