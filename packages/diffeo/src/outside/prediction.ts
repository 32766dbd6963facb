/**
 * Conversion of a network's prediction to a score. For X_t = m x₀ + σ ε, ε ~ N(0, I), the mean of
 * each of these given X_t = x is another form of s = ∇ₓ log p_t(x), since E[ε | x] = −σ s:
 *
 *   noise            ε                s = −ε/σ
 *   x0               x₀               s = (m x₀ − x)/σ²
 *   v                v = m ε − σ x₀   s = −(σ x + m v)/(σ (m² + σ²)),   as σ x + m v = (m² + σ²) ε
 *   velocity         v = ṁ x₀ + σ̇ ε   s = (ṁ x − m v)/(σ (σ̇ m − σ ṁ))
 *   velocityToData   −v at time 1 − t, for networks with data at t = 1
 *   edm              F, see below
 *   score            s itself
 *
 * v is that of T. Salimans and J. Ho, "Progressive distillation", ICLR 2022, where m² + σ² = 1. The
 * velocity is that of the probability flow, which flow matching learns; the formula follows from ṁ
 * x − m v = ṁ σ ε − m σ̇ ε = −ε (σ̇ m − σ ṁ).
 *
 * EDM (T. Karras et al., NeurIPS 2022): with z = x/m, r = σ/m and the standard deviation d of the
 * data, the network F is called with z/√(r² + d²) and ¼ log r, and
 *
 *   E[x₀ | x] = d²/(r² + d²) z + r d/√(r² + d²) F
 *   s = (E[x₀ | x] − z)/(m r²) = (−z/(r² + d²) + d/(r √(r² + d²)) F)/m
 */
import { alignToEvent } from "../bijector/index.ts";
import {
  add,
  constant,
  div,
  expand,
  fail,
  jvp,
  log,
  mul,
  neg,
  type OutsideFunction,
  onesLike,
  outside,
  reshape,
  sqrt,
  square,
  sub,
  type Tensor,
} from "../graph/index.ts";
import type { MarginalScore, Sde, Transition } from "../sde/index.ts";

/** The predictions of networks, by name. */
export const predictions = [
  "score",
  "noise",
  "x0",
  "v",
  "velocity",
  "velocityToData",
  "edm",
] as const;
/**
 * What a network predicts: the noise ε, x₀, v, a velocity, EDM's F, or the score itself. The
 * documentation of scores has the formulas.
 */
export type Prediction = (typeof predictions)[number];

/** Options of external scores. */
export interface PredictionOptions {
  /** What the network predicts. */
  readonly predicts: Prediction;
  /**
   * The SDE for which the network was trained. Its m(t) and σ(t) convert predictions to scores; it
   * is not needed if the network predicts the score.
   */
  readonly sde?: Sde;
  /** The standard deviation of the data with which an EDM network was trained. Default 0.5. */
  readonly sigmaData?: number;
  /**
   * The step of central differences, such as 0.03, in units of σ(t), or of x if no SDE is given.
   * They give the derivatives of the score, which likelihoods and guidance need. Without it these
   * are errors.
   */
  readonly differences?: number;
  /** The most events per call; more are split into several calls. Default: all in one call. */
  readonly batch?: number;
  /** The name of the score in errors. */
  readonly name?: string;
}

/** m, σ and their derivatives at the times of a call, with axes for the events. */
interface Levels {
  readonly m: Tensor;
  readonly sigma: Tensor;
  readonly mRate: Tensor;
  readonly sigmaRate: Tensor;
}

/** How a network is called, and how its output is converted to a score. */
interface Reading {
  /** The network's x and t. Default: x and t. */
  readonly call?: (x: Tensor, t: Tensor, levels: Levels) => readonly [x: Tensor, t: Tensor];
  readonly score: (x: Tensor, out: Tensor, levels: Levels) => Tensor;
}

const velocity = (x: Tensor, v: Tensor, { m, sigma, mRate, sigmaRate }: Levels): Tensor =>
  div(sub(mul(x, mRate), mul(v, m)), mul(sigma, sub(mul(sigmaRate, m), mul(sigma, mRate))));

/** The reading of a network by what it predicts. */
export function readingOf({
  predicts,
  sigmaData: d = 0.5,
}: Pick<PredictionOptions, "predicts" | "sigmaData">): Reading {
  const spread = ({ m, sigma }: Levels): Tensor => add(square(div(sigma, m)), d * d);
  const readings: Readonly<Record<Prediction, Reading>> = {
    score: { score: (_, out) => out },
    noise: { score: (_, out, { sigma }) => neg(div(out, sigma)) },
    x0: { score: (x, out, { m, sigma }) => div(sub(mul(out, m), x), square(sigma)) },
    v: {
      score: (x, out, { m, sigma }) =>
        neg(div(add(mul(x, sigma), mul(out, m)), mul(sigma, add(square(m), square(sigma))))),
    },
    velocity: { score: velocity },
    velocityToData: {
      call: (x, t) => [x, sub(1, t)],
      score: (x, out, levels) => velocity(x, neg(out), levels),
    },
    edm: {
      call: (x, t, levels) => {
        const { m, sigma } = levels;
        const time = mul(log(div(sigma, m)), 0.25);
        return [div(div(x, m), sqrt(spread(levels))), reshape(time, t.shape)];
      },
      score: (x, out, levels) => {
        const { m, sigma } = levels;
        const wide = spread(levels);
        const along = div(mul(out, d), mul(div(sigma, m), sqrt(wide)));
        return div(sub(along, div(div(x, m), wide)), m);
      },
    },
  };
  return readings[predicts];
}

/** m, σ and their derivatives at t, for points x. */
export function levelsAt({ meanFactor, std }: Transition, x: Tensor, t: Tensor): Levels {
  const wide = (value: Tensor): Tensor => alignToEvent(value, x.shape.length - t.shape.length);
  const both = (f: (t: Tensor) => Tensor): readonly [Tensor, Tensor] => {
    const [value, rate] = jvp(f, t, onesLike(t));
    return [wide(value), wide(rate)];
  };
  const [[m, mRate], [sigma, sigmaRate]] = [both(meanFactor), both(std)];
  return { m, sigma, mRate, sigmaRate };
}

/** The score from an external function, by what it predicts. */
export function scoreFrom(
  name: string,
  open: OutsideFunction["open"],
  { predicts, sde, sigmaData, differences, batch }: PredictionOptions,
): MarginalScore {
  if (!predictions.includes(predicts))
    fail(
      "usage",
      `${name}: \`predicts\` is ${JSON.stringify(predicts)}`,
      `use one of ${predictions.join(", ")}`,
    );
  if (differences !== undefined && !(differences > 0 && differences < Infinity))
    fail(
      "usage",
      `${name}: \`differences\` is ${differences}`,
      "give a positive number, such as 0.03",
    );
  if (batch !== undefined && !(Number.isInteger(batch) && batch >= 1))
    fail("usage", `${name}: \`batch\` is ${batch}`, "give an integer of at least 1");
  if (sigmaData !== undefined && !(sigmaData > 0 && sigmaData < Infinity))
    fail("usage", `${name}: \`sigmaData\` is ${sigmaData}`, "give a positive number, such as 0.5");
  const transition = sde?.transition;
  const levels: Transition | undefined =
    transition ?? (predicts === "score" ? undefined : noTransition(name, predicts, sde));
  const field = outside({
    name,
    open,
    step:
      differences === undefined
        ? undefined
        : (t: Tensor) =>
            levels
              ? mul(levels.std(t), differences)
              : expand(constant(differences, t.dtype), t.shape),
  });
  if (predicts === "score" || !levels) return field;
  const { call, score } = readingOf({ predicts, sigmaData });
  return (x, t) => {
    const at = levelsAt(levels, x, t);
    const [point, time] = call ? call(x, t, at) : [x, t];
    return score(x, field(point, time), at);
  };
}

const noTransition = (name: string, predicts: Prediction, sde: Sde | undefined): never =>
  fail(
    "usage",
    sde
      ? `${name}: ${sde.name} has no Gaussian transition, which is needed to convert ` +
          `${predicts} to a score`
      : `${name}: the network predicts ${predicts}, but the SDE for which it was trained is ` +
          "not given",
    "set `sde`",
  );
