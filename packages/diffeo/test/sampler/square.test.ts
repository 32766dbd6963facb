/**
 * Reverse(φ(X)) ≡ φ(Reverse(X)) pathwise: on the same Brownian motion, the process transformed and
 * then reversed, stepped in y, and the process reversed, stepped in x and then mapped, approach
 * each other as dt → 0.
 */
import { describe, expect, it } from "vitest";
import {
  additiveLogistic,
  type Bijector,
  expMap,
  sigmoidMap,
  timeAffine,
  unitBall,
} from "../../src/bijector/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import { constant, exp, mul, type Tensor } from "../../src/graph/index.ts";
import { key, normal, sampleKeys } from "../../src/random/index.ts";
import { brownianPath, type SolverName, uniformGrid } from "../../src/sampler/index.ts";
import { pushedScore } from "../../src/score/index.ts";
import { linearSchedule, push, reverse, reversePush, vp } from "../../src/sde/index.ts";
import { clusters, draws, exactScore, fittedOrder, meanDistance, remembered } from "./tools.ts";

const maps: readonly Bijector[] = [
  sigmoidMap(),
  additiveLogistic(),
  expMap(),
  unitBall(),
  timeAffine({ scale: (t) => exp(mul(t, -0.7)), shift: (t) => mul(t, 2) }),
];
const stepCounts = [64, 256];
const count = 150;
const sde = vp({ schedule: linearSchedule({ min: 0.5, max: 2 }) });
const score = exactScore(sde, clusters(2));
const times = (steps: number): number[] => uniformGrid(1, 0.05, steps);
const path = remembered(brownianPath(key("square"), times(256)));
const start = normal(sampleKeys(key("start"), count), [2], { dtype: "float64" });

/**
 * How far the process stepped in y by each solver is from the one stepped in x, for every number of
 * steps.
 */
async function differences(phi: Bijector, solverNames: readonly SolverName[]): Promise<number[][]> {
  const first = await evaluate((x: Tensor) => phi.forward(x, constant(1, "float64")), start);
  const transformed = reverse(push(sde, phi), (y: Tensor, t: Tensor) =>
    pushedScore(phi, (x, s) => score(x, s as Tensor))(y, t),
  );
  const opening = { shape: [2], type: "float64", threads: 1 } as const;
  const calls = stepCounts.map((steps) => ({
    start: first,
    key: key(1),
    grid: times(steps),
    noise: path,
  }));
  const inX = await draws(
    reversePush(sde, phi, score),
    { ...opening, solver: "domainPreserving" },
    calls,
  );
  const found: number[][] = [];
  for (const solver of solverNames) {
    const inY = await draws(transformed, { ...opening, solver }, calls);
    found.push(inY.map(({ samples }, i) => meanDistance(samples, inX[i].samples)));
  }
  return found;
}

describe("the commuting square", () => {
  for (const phi of maps)
    it(`closes at the order of the solver (${phi.name})`, async () => {
      const [euler, higher] = await differences(phi, ["eulerMaruyama", "milstein"]);
      const orders = [euler, higher].map((d) => fittedOrder(stepCounts, d));
      console.log(
        `${phi.name}: Euler–Maruyama ${orders[0].toFixed(3)}, Milstein ${orders[1].toFixed(3)}; ` +
          `at 256 steps they differ by ${euler[1].toExponential(1)}, ${higher[1].toExponential(1)}`,
      );
      expect(orders[0]).toBeGreaterThan(0.45);
      expect(orders[1]).toBeGreaterThan(0.85);
      expect(higher[1]).toBeLessThanOrEqual(euler[1]);
    });
});
