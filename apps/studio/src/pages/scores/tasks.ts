/**
 * The tasks of the page of scores, in float64: a density p in x, a map y = φ(x), and the two terms
 * of Theorem 1 (`thm:multi_dimensional`),
 *
 *   ∇ᵧ log q(y) = J⁻ᵀ∇ₓ log p(x) + ∇ᵧ log|det J_{φ⁻¹}(y)|
 *
 * over a lattice and at one point, compared with central differences of log q through φ⁻¹.
 */
import { checkMap, type MapReport } from "diffeo/check";
import type { NdArray } from "diffeo/graph";
import { task } from "../../shell/rpc.ts";
import { lattice } from "../../view/frame.ts";
import { readChoice } from "./choice.ts";
import { type Graphs, openGraphs } from "./graphs.ts";
import { errorOf, frameOf, gridY, lifted, numbers, panelX, points, seen } from "./panels.ts";
import {
  ARROWS,
  type Panel,
  type Reading,
  type RunRequest,
  type Scene,
  SHADES,
  type Unread,
} from "./shapes.ts";

let current: { readonly key: string; readonly t: number; readonly graphs: Graphs } | undefined;

/** Both pictures. Another density or map replaces the graphs of the last one. */
export const open = task<RunRequest, never, Scene | Unread>(async (request, { signal }) => {
  const { density, map: name, typed, t } = request;
  const key = JSON.stringify([density, name, (density === "own" || name === "own") && typed]);
  if (current?.key !== key) {
    const choice = readChoice(request);
    if ("kind" in choice) return choice;
    const last = current;
    current = { key, t, graphs: openGraphs(choice.density, choice.map) };
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
    frame = frameOf(
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
 * The scores at a point, given in x or by its place in the picture of y. Undefined if φ maps no x
 * there, or if a result is not finite.
 */
export const point = task<
  { readonly x: readonly number[] } | { readonly u: readonly number[] },
  never,
  Reading | undefined
>(async (request) => {
  if (!current) return undefined;
  const { graphs, t } = current;
  const { map, dimension: m } = graphs;
  const x =
    "x" in request
      ? Float64Array.from(request.x)
      : numbers(
          await graphs.inverse(points(lifted(map.image, Float64Array.from(request.u)), m), t),
        );
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

/** The checks that every map must pass, on the chosen map. */
export const verdict = task<RunRequest, never, MapReport | Unread>(async (request) => {
  const choice = readChoice(request);
  if ("kind" in choice) return choice;
  const { phi, from } = choice.map;
  return checkMap(phi, { event: [2], from });
});
