/**
 * Score matching fits a density without its normaliser. The example is a banana, log p(x) = −½x₁² −
 * ½((x₂ − c x₁²)/σ)² + const, whose c and σ are fitted to points by SSM-VR, by GSSM-VR with
 * quadratic slices, and by GSSM with a custom slice family. The first argument is the number of
 * steps (default 600).
 */
import {
  add,
  div,
  dot,
  exp,
  gradEach,
  mean,
  mul,
  type NdArray,
  ndarray,
  sin,
  square,
  squaredNorm,
  sub,
  type Tensor,
  take,
} from "diffeo/graph";
import {
  drawArrays,
  drawShapes,
  gssm,
  gssmVr,
  lossOf,
  type Objective,
  quadraticSlices,
  smoothFamily,
  ssmVr,
} from "diffeo/matching";
import { fold, key, normal } from "diffeo/random";
import { compileStep, initialState } from "diffeo/train";

interface Banana<T> {
  readonly c: T;
  readonly logSigma: T;
}

/**
 * The density up to a constant. Its score is the gradient, which does not depend on the constant.
 */
const logDensity = ({ c, logSigma }: Banana<Tensor>, x: Tensor): Tensor => {
  const [x1, x2] = [take(x, 0, -1), take(x, 1, -1)];
  const bent = div(sub(x2, mul(c, square(x1))), exp(logSigma));
  return mul(add(square(x1), square(bent)), -0.5);
};

/**
 * v(x) = sin(ω·x) + ½‖x‖², random waves on a bowl. ∇v, H_v∇v and Δv are computed by automatic
 * differentiation.
 */
const waves = smoothFamily({
  name: "waves on a bowl",
  draws: (n) => ({ omega: { distribution: "normal", shape: [n] } }),
  value: (x, { omega }) => add(sin(dot(omega, x)), mul(squaredNorm(x), 0.5)),
});

const COUNT = 500;
const STEPS = Number(process.argv[2] ?? 600);
const TRUTH = { c: 0.8, sigma: 0.5 };

/** Points of the banana. */
function points(step: number): NdArray {
  const drawn = normal(fold(key("points"), step), [COUNT, 2]);
  const { data } = drawn;
  for (let i = 0; i < data.length; i += 2)
    data[i + 1] = TRUTH.c * data[i] ** 2 + TRUTH.sigma * data[i + 1];
  return drawn;
}

async function learn(objective: Objective): Promise<{ c: number; sigma: number }> {
  const start = { c: ndarray(0), logSigma: ndarray(0) };
  const spec = objective.draws(2);
  const step = compileStep(
    (p: Banana<Tensor>, x: Tensor, draws: Readonly<Record<string, Tensor>>) =>
      mean(
        lossOf(objective)(
          gradEach((y: Tensor) => logDensity(p, y)),
          x,
          draws,
        ),
      ),
    start,
    [[COUNT, 2], drawShapes(spec, [COUNT])],
    { emaDecay: 0.99 },
  );
  let state = initialState(start);
  for (let i = 1; i <= STEPS; i++) {
    const rate = 0.03 * (1 - i / (STEPS + 1));
    ({ state } = await step(
      state,
      [points(i), drawArrays(spec, [COUNT], fold(key(objective.name), i))],
      i,
      rate,
    ));
  }
  await step.dispose();
  const [c, logSigma] = state.ema.data as Float32Array;
  return { c, sigma: Math.exp(logSigma) };
}

const print = (cells: readonly string[]): void =>
  void process.stdout.write(
    `${cells[0].padEnd(34)}${cells
      .slice(1)
      .map((s) => s.padStart(8))
      .join("")}\n`,
  );
print(["", "c", "σ"]);
print(["the truth", TRUTH.c.toFixed(3), TRUTH.sigma.toFixed(3)]);
for (const [name, objective] of [
  ["SSM-VR", ssmVr()],
  ["GSSM-VR, quadratic slices", gssmVr(quadraticSlices())],
  ["GSSM, waves on a bowl", gssm(waves, { slices: 4 })],
] as const) {
  const { c, sigma } = await learn(objective);
  print([name, c.toFixed(3), sigma.toFixed(3)]);
}
