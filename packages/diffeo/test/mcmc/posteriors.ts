/** Eight published posteriors (posteriordb) as models of diffeo, with data from files. */
import { readFileSync } from "node:fs";
import { between, ordered, positive, real, simplex } from "../../src/domain/index.ts";
import {
  add,
  addAll,
  at,
  combineAll,
  concat,
  div,
  exp,
  expandDims,
  log,
  log1p,
  logAbsDet,
  logSumExp,
  matmul,
  matvec,
  mul,
  ndarray,
  neg,
  type Operand,
  scan,
  slice,
  solve,
  square,
  squaredNorm,
  squeeze,
  stack,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import type { PosteriorModel } from "../../src/mcmc/index.ts";

export interface Reference {
  readonly name: string;
  readonly data: Readonly<
    Record<string, number | readonly number[] | readonly (readonly number[])[]>
  >;
  readonly reference: Readonly<Record<string, { readonly mean: number; readonly sd: number }>>;
}

export const readReference = (path: string): Reference =>
  JSON.parse(readFileSync(path, "utf8")) as Reference;

type Data = Reference["data"];
const list = (data: Data, name: string): number[] => [...(data[name] as readonly number[])];

/** log N(y; m, s) up to a constant, for arrays [chains, n] of residuals and one s a chain. */
const normal = (residuals: Tensor, s: Tensor): Tensor =>
  sub(
    mul(squaredNorm(div(residuals, expandDims(s, -1))), -0.5),
    mul(log(s), residuals.shape.at(-1) as number),
  );
const gauss = (x: Tensor, m: Operand, s: number): Tensor =>
  mul(square(mul(sub(x, m), 1 / s)), -0.5);
const halfCauchy = (x: Tensor, c: number): Tensor => neg(log1p(square(mul(x, 1 / c))));
const wide = (x: Tensor): Tensor => expandDims(x, -1);

const twice = (v: number): [number, number] => [v, v];

/** The logarithm of a product of two matrices given by theirs, […, from, to]. */
const logProduct = (a: Tensor, b: Tensor): Tensor => logSumExp(add(wide(a), expandDims(b, 2)), 3);

export const models: Readonly<Record<string, (data: Data) => PosteriorModel>> = {
  eight_schools: (data) => {
    const [y, sigma] = [list(data, "y"), list(data, "sigma")];
    const theta = ({ mu, tau, t }: Readonly<Record<string, Tensor>>): Tensor =>
      add(wide(mu), mul(wide(tau), t));
    return {
      parameters: { t: [real(), 8], mu: real(), tau: positive() },
      derived: { theta },
      logDensity: (p) =>
        addAll([
          mul(squaredNorm(p.t), -0.5),
          gauss(p.mu, 0, 5),
          halfCauchy(p.tau, 5),
          mul(
            squaredNorm(
              mul(
                sub(y, theta(p)),
                sigma.map((s) => 1 / s),
              ),
            ),
            -0.5,
          ),
        ]),
    };
  },
  garch11: (data) => {
    const y = list(data, "y");
    return {
      parameters: {
        mu: real(),
        alpha0: positive(),
        alpha1: between(0, 1),
        beta1: { above: () => 0, below: ({ alpha1 }) => sub(1, alpha1) },
      },
      logDensity: ({ mu, alpha0, alpha1, beta1 }) => {
        // v_t = b_t + β v_{t−1}, all t at once: as 200 steps after each other the graph has 50
        // times as many nodes.
        const squares = square(sub(y, wide(mu)));
        const added = add(wide(alpha0), mul(wide(alpha1), slice(squares, null, [0, -1])));
        const b = concat([add(mul(wide(mu), 0), (data.sigma1 as number) ** 2), added], 1);
        const { value: variance } = scan<{ factor: Tensor; value: Tensor }>(
          (before, after) => ({
            factor: mul(before.factor, after.factor),
            value: add(mul(before.value, after.factor), after.value),
          }),
          { factor: add(mul(b, 0), wide(beta1)), value: b },
          1,
        );
        return mul(sum(add(div(squares, variance), log(variance)), -1), -0.5);
      },
    };
  },
  hmm_example: (data) => {
    const y = list(data, "y");
    return {
      parameters: { theta1: simplex(2), theta2: simplex(2), mu: ordered(2, { above: 0 }) },
      logDensity: ({ theta1, theta2, mu }) => {
        // log p(y_t | state), [chains, t, state]; then, with log Θ, the matrices of a step,
        // [chains, t, from, to].
        const seen = mul(square(sub(y.map(twice), expandDims(mu, 1))), -0.5);
        const move = expandDims(log(stack([theta1, theta2], 1)), 1);
        const steps = add(expandDims(slice(seen, null, [1, y.length]), 2), move);
        const paths = logSumExp(add(wide(at(seen, 0, 1)), combineAll(logProduct, steps, 1)), 1);
        const [m1, m2] = [0, 1].map((k) => at(mu, k, 1));
        return addAll([logSumExp(paths, -1), gauss(m1, 3, 1), gauss(m2, 10, 1)]);
      },
    };
  },
  low_dim_gauss_mix: (data) => {
    const y = list(data, "y");
    return {
      parameters: { mu: ordered(2), sigma: [positive(), 2], theta: between(0, 1) },
      logDensity: ({ mu, sigma, theta }) => {
        const weight = stack([log(theta), log1p(neg(theta))], 1);
        // [chains, n, 2]
        const scaled = div(sub(y.map(twice), expandDims(mu, 1)), expandDims(sigma, 1));
        const parts = sub(mul(square(scaled), -0.5), expandDims(sub(log(sigma), weight), 1));
        const priors = [
          sum(gauss(mu, 0, 2), -1),
          sum(gauss(sigma, 0, 2), -1),
          mul(sum(weight, -1), 4),
        ];
        return addAll([sum(logSumExp(parts, -1), -1), ...priors]);
      },
    };
  },
  gp_regr: (data) => {
    const [x, y] = [list(data, "x"), list(data, "y")];
    const squares = x.map((a) => x.map((b) => (a - b) ** 2));
    const eye = x.map((_, i) => x.map((_, j) => (i === j ? 1 : 0)));
    return {
      parameters: { rho: positive(), alpha: positive(), sigma: positive() },
      logDensity: ({ rho, alpha, sigma }) => {
        const cell = (v: Tensor): Tensor => wide(wide(v));
        const kernel = mul(
          square(cell(alpha)),
          exp(
            div(
              squares.map((row) => row.map((s) => -s / 2)),
              square(cell(rho)),
            ),
          ),
        );
        const c = add(kernel, mul(cell(sigma), eye));
        const column = add(
          mul(cell(rho), 0),
          y.map((v) => [v]),
        );
        const fit = sum(mul(squeeze(solve(c, column), -1), y), -1);
        return addAll([
          mul(add(fit, logAbsDet(c)), -0.5),
          sub(mul(log(rho), 24), mul(rho, 4)),
          gauss(alpha, 0, 2),
          gauss(sigma, 0, 1),
        ]);
      },
    };
  },
  arK: (data) => {
    const [y, k] = [list(data, "y"), data.K as number];
    const lags = y.slice(k).map((_, t) => Array.from({ length: k }, (_, j) => y[t + k - 1 - j]));
    return {
      parameters: { alpha: real(), beta: [real(), k], sigma: positive() },
      logDensity: ({ alpha, beta, sigma }) => {
        const mean = add(wide(alpha), matvec(ndarray(lags) as never, beta));
        return addAll([
          normal(sub(y.slice(k), mean), sigma),
          gauss(alpha, 0, 10),
          sum(gauss(beta, 0, 10), -1),
          halfCauchy(sigma, 2.5),
        ]);
      },
    };
  },
  kidscore_momiq: (data) => {
    const [score, iq] = [list(data, "kid_score"), list(data, "mom_iq")];
    return {
      parameters: { beta: [real(), 2], sigma: positive() },
      logDensity: ({ beta, sigma }) => {
        const mean = matmul(beta, [score.map(() => 1), iq]);
        return add(normal(sub(score, mean), sigma), halfCauchy(sigma, 2.5));
      },
    };
  },
  sblrc_blr: (data) => {
    const y = list(data, "y");
    const rows = data.X as readonly (readonly number[])[];
    const columns = rows[0].map((_, j) => rows.map((row) => row[j]));
    return {
      parameters: { beta: [real(), columns.length], sigma: positive() },
      logDensity: ({ beta, sigma }) =>
        addAll([
          normal(sub(y, matmul(beta, columns)), sigma),
          sum(gauss(beta, 0, 10), -1),
          gauss(sigma, 0, 10),
        ]),
    };
  },
};
