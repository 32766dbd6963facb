/** The graphs and samplers of one space, in float64. */
import { type Compiled, compile } from "diffeo/engine";
import type { NdArray, Tensor } from "diffeo/graph";
import { eulerMaruyama, milstein, openSampler, uniformGrid } from "diffeo/sampler";
import { pushedScore, pushLogDensity } from "diffeo/score";
import { forward, linearSchedule, type Process, push, reverse, reversePush, vp } from "diffeo/sde";
import { type SpaceName, STEPS, T_END } from "./shapes.ts";
import { spaces } from "./spaces.ts";

const float64 = { type: "float64", device: "cpu" } as const;
const sde = vp({ schedule: linearSchedule({ min: 0.1, max: 12 }) });
export const FINEST = STEPS[STEPS.length - 1];
export const BACK_TIMES = uniformGrid(1, T_END, FINEST);
export const OUT_TIMES = uniformGrid(0, 1, 256);

export const numbers = ({ data }: NdArray): Float64Array => data as Float64Array;
export const rows = (data: Float64Array, n: number): NdArray => ({
  shape: [data.length / n, n],
  dtype: "float64",
  data,
});

/** Compiles everything of a space once. */
export async function openSpace(name: SpaceName) {
  const space = spaces[name]();
  const { phi, distribution, dimension: n } = space;
  const { meanFactor, std } = sde.transition;
  const score = (x: Tensor, t: Tensor): Tensor =>
    distribution.marginal(meanFactor(t), std(t)).score(x);
  const inY = reversePush(sde, phi, score);
  // Map first, then reverse: the process in y, which needs nothing but the score in y. The chart
  // tells which points are outside the domain.
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
  const logp = (x: Tensor, t: Tensor): Tensor =>
    distribution.marginal(meanFactor(t), std(t)).logDensity(x);
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
export type Opened = Awaited<ReturnType<typeof openSpace>>;
