/** Scores and densities in x and in y as graphs, in float64, with finite differences of log q. */
import { contains, gradLogDet, pushCovector } from "diffeo/bijector";
import type { Density } from "diffeo/distribution";
import { type Compiled, compile } from "diffeo/engine";
import { add, constant, expandDims, mul, neg, reshape, sub, sum, type Tensor } from "diffeo/graph";
import { pushLogDensity, pushScore } from "diffeo/score";
import { onDomain } from "./choice.ts";
import type { PlaneMap } from "./maps.ts";

const float64 = { type: "float64", device: "cpu" } as const;
/** The step of central differences of fourth order. */
const H = 1e-5;

/** Steps in units of h, and weights of ∂/∂yᵢ: (f₋₂ − 8f₋₁ + 8f₁ − f₂)/12h. */
const OFFSETS = [-2, -1, 1, 2];
const WEIGHTS = [1, -8, 8, -1].map((w) => w / (12 * H));

/** The functions of a scene, to be compiled as graphs. */
function functionsOf(base: Density, map: PlaneMap) {
  const { phi, image } = map;
  const density = onDomain(base, map);
  const logq = (y: Tensor, t: Tensor): Tensor => {
    const x = phi.inverse(y, t);
    return pushLogDensity(phi, x, density.logDensity(x), t);
  };
  /** ∇ᵧ log q by differences through φ⁻¹, all in one batch. */
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
  const scoreY = (x: Tensor, t: Tensor): Tensor => pushScore(phi, x, density.score(x), t);
  return {
    logp: (x: Tensor) => density.logDensity(x),
    scoreX: (x: Tensor) => density.score(x),
    forward: (x: Tensor, t: Tensor) => phi.forward(x, t),
    inverse: (y: Tensor, t: Tensor) => phi.inverse(y, t),
    logq: (y: Tensor, t: Tensor) => ({ inside: contains(phi, y, t), logq: logq(y, t) }),
    overY: (y: Tensor, t: Tensor) => {
      const x = phi.inverse(y, t);
      return { inside: contains(phi, y, t), score: scoreY(x, t), differences: differences(y, t) };
    },
    atX: (x: Tensor, t: Tensor) => {
      const y = phi.forward(x, t);
      const s = density.score(x);
      return {
        y,
        scoreX: s,
        carried: pushCovector(phi, x, s, t),
        own: neg(pushCovector(phi, x, gradLogDet(phi, x, t), t)),
        scoreY: scoreY(x, t),
        logp: density.logDensity(x),
        logq: sub(density.logDensity(x), phi.logDet(x, t)),
        differences: differences(y, t),
      };
    },
  };
}

/** Compiles the functions of a scene; each graph is built with its first call. */
export function openGraphs(density: Density, map: PlaneMap) {
  const f = functionsOf(density, map);
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
export type Graphs = ReturnType<typeof openGraphs>;
