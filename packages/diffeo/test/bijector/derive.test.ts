import { describe, expect, it } from "vitest";
import {
  additiveLogistic,
  type Bijector,
  bijector,
  chain,
  type Diffusion,
  each,
  gradLogDet,
  itoTrace,
  jacobianOf,
  logCholesky,
  pullCovector,
  pullDiffusion,
  pullVector,
  pushCovector,
  pushDiffusion,
  pushVector,
  sigmoidMap,
  stereographic,
  timeAffine,
  timeDerivative,
  unitBall,
} from "../../src/bijector/index.ts";
import { compile } from "../../src/engine/index.ts";
import {
  add,
  exp,
  input,
  log,
  matmul,
  mul,
  neg,
  reshape,
  sqrt,
  square,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { key, normal } from "../../src/random/index.ts";
import { distance, run } from "./support.ts";

/** y = sinh(x), as a user would write it. */
const sinh = bijector({
  name: "sinh",
  forward: (x) => mul(sub(exp(x), exp(neg(x))), 0.5),
  inverse: (y) => log(add(y, sqrt(add(square(y), 1)))),
  logDet: (x) => sum(log(mul(add(exp(x), exp(neg(x))), 0.5)), -1),
});

const scalar = (value: Tensor): Diffusion => ({ kind: "scalar", value });
const matrix = (value: Tensor): Diffusion => ({ kind: "matrix", value });

describe("a map of three functions", () => {
  const x = [0.3, -1.2];
  const v = [1.5, -0.7];
  const per = (f: (x: number, v: number) => number): number[] => x.map((a, i) => f(a, v[i]));

  it("has J, Jᵀ, J⁻¹ and J⁻ᵀ", async () => {
    expect(
      distance(
        await run((a, b) => pushVector(sinh, a, b), x, v),
        per((a, b) => Math.cosh(a) * b),
      ),
    ).toBeLessThan(1e-14);
    expect(
      distance(
        await run((a, b) => pullCovector(sinh, a, b), x, v),
        per((a, b) => Math.cosh(a) * b),
      ),
    ).toBeLessThan(1e-14);
    expect(
      distance(
        await run((a, b) => pullVector(sinh, a, b), x, v),
        per((a, b) => b / Math.cosh(a)),
      ),
    ).toBeLessThan(1e-14);
    expect(
      distance(
        await run((a, b) => pushCovector(sinh, a, b), x, v),
        per((a, b) => b / Math.cosh(a)),
      ),
    ).toBeLessThan(1e-14);
  });

  it("has ∇ log|det J| and Tr[GᵀHG] for every kind of G", async () => {
    expect(distance(await run((a) => gradLogDet(sinh, a), x), per(Math.tanh))).toBeLessThan(1e-14);
    const trace = (squares: readonly number[]): number[] =>
      x.map((a, i) => Math.sinh(a) * squares[i]);
    expect(
      distance(await run((a, g) => itoTrace(sinh, a, scalar(g)), x, 0.5), trace([0.25, 0.25])),
    ).toBeLessThan(1e-14);
    const diagonal = await run(
      (a, g) => itoTrace(sinh, a, { kind: "diagonal", value: g }),
      x,
      [2, 3],
    );
    expect(distance(diagonal, trace([4, 9]))).toBeLessThan(1e-14);
    const full = await run((a, g) => itoTrace(sinh, a, matrix(g)), x, [
      [1, 2, 3],
      [4, 5, 6],
    ]);
    expect(distance(full, trace([14, 77]))).toBeLessThan(1e-12);
  });

  it("names the function that is missing", () => {
    const half = {
      name: "half",
      forward: sinh.forward,
      inverse: sinh.inverse,
    } as unknown as Bijector;
    expect(() => bijector(half)).toThrow(/bijector "half": logDet is missing/);
    expect(() => bijector({ ...sinh, eventRank: 0 })).toThrow(/eventRank is 0/);
  });
});

describe("events, batches and times", () => {
  it("maps a board of 8 × 8 simplices square by square", async () => {
    const board = each(additiveLogistic(), 2);
    const draw = (name: string, shape: number[]) => normal(key(name), shape, { dtype: "float64" });
    const [x, v, u, g] = [
      draw("x", [2, 8, 8, 12]),
      draw("v", [2, 8, 8, 12]),
      draw("u", [2, 8, 8, 12]),
      draw("g", [2]),
    ];
    const both = compile(
      (x: Tensor, v: Tensor, u: Tensor, g: Tensor) => {
        const site = additiveLogistic();
        return {
          whole: [
            board.forward(x),
            board.logDet(x),
            pushVector(board, x, v),
            pullVector(board, x, v),
            pushCovector(board, x, u),
            gradLogDet(board, x),
            itoTrace(board, x, scalar(g)),
          ],
          sites: [
            site.forward(x),
            sum(site.logDet(x), [-2, -1]),
            pushVector(site, x, v),
            pullVector(site, x, v),
            pushCovector(site, x, u),
            gradLogDet(site, x),
            mul(
              pushVector(site, x, sub(1, mul(site.forward(x), 2))),
              square(reshape(g, [2, 1, 1, 1])),
            ),
          ],
        };
      },
      [[2, 8, 8, 12], [2, 8, 8, 12], [2, 8, 8, 12], [2]],
      { type: "float64" },
    );
    const { whole, sites } = await both(x, v, u, g);
    await both.dispose();
    expect(whole.map((a) => a.shape)).toEqual(sites.map((a) => a.shape));
    whole.forEach((a, i) => {
      const pair = [a, sites[i]].map(({ data }) => [...(data as Float64Array)]);
      expect(distance(pair[0], pair[1]), `quantity ${i}`).toBeLessThan(1e-12);
    });
  });

  it("gives a block-diagonal Jacobian on a grid", async () => {
    const j = await run(
      (x) => jacobianOf(each(additiveLogistic()), x),
      [
        [0.1, -0.4],
        [1.2, 0.3],
        [-0.6, 0.8],
      ],
    );
    const single = await run((x) => jacobianOf(additiveLogistic(), x), [1.2, 0.3]);
    const entry = (i: number, k: number): number => j[i * 6 + k];
    for (let i = 0; i < 6; i++)
      for (let k = 0; k < 6; k++)
        if (Math.floor(i / 2) !== Math.floor(k / 2)) expect(entry(i, k)).toBe(0);
    expect(distance([entry(2, 2), entry(2, 3), entry(3, 2), entry(3, 3)], single)).toBeLessThan(
      1e-15,
    );
  });

  it("accepts one point and many vectors", async () => {
    const vectors = [
      [1, 0],
      [0, 1],
      [2, -3],
    ];
    const together = await run((x, v) => pushVector(unitBall(), x, v), [0.5, -1], vectors);
    const alone = await Promise.all(
      vectors.map((v) => run((x, w) => pushVector(unitBall(), x, w), [0.5, -1], v)),
    );
    expect(distance(together, alone.flat())).toBeLessThan(1e-15);
  });

  const moving = timeAffine({ scale: (t) => exp(t), shift: (t) => square(t) });
  it("accepts one time for all, or one per event of the batch", async () => {
    const x = [
      [1, 2],
      [3, 4],
    ];
    const both = await run((z, t) => moving.forward(z, t), x, [0, 1]);
    expect(distance(both, [1, 2, 3 * Math.E + 1, 4 * Math.E + 1])).toBeLessThan(1e-14);
    const one = await run((z, t) => moving.forward(z, t), x, 1);
    expect(
      distance(
        one,
        x.flat().map((v) => v * Math.E + 1),
      ),
    ).toBeLessThan(1e-14);
    const many = await run(
      (z, t) => gradLogDet(chain(moving, sigmoidMap()), z, t),
      [0.5, -0.5],
      [0, 1, 2],
    );
    const each1 = await Promise.all(
      [0, 1, 2].map((t) =>
        run((z, s) => gradLogDet(chain(moving, sigmoidMap()), z, s), [0.5, -0.5], t),
      ),
    );
    expect(distance(many, each1.flat())).toBeLessThan(1e-14);
  });

  it("differentiates with respect to time, with 0 for constant maps", async () => {
    const x = [
      [1, 2],
      [3, 4],
    ];
    const derivative = await run((z, t) => timeDerivative(moving, z, t), x, [0, 1]);
    expect(distance(derivative, [1, 2, 3 * Math.E + 2, 4 * Math.E + 2])).toBeLessThan(1e-14);
    expect(await run((z, t) => timeDerivative(unitBall(), z, t), x, [0, 1])).toEqual([0, 0, 0, 0]);
  });

  it("reports a missing time, and missing axes of an event", () => {
    const x = input("x", [3], "float64");
    expect(() => moving.forward(x)).toThrow(
      /timeAffine: the map depends on time, and no time is given\. Pass t/,
    );
    expect(() => pushVector(moving, x, x)).toThrow(/depends on time/);
    expect(() => pushVector(each(unitBall(), 2), x, x)).toThrow(
      /has fewer axes than an event \(3\)/,
    );
  });

  it("computes in the type of its input", () => {
    for (const type of ["float32", "float64"] as const) {
      const x = input("x", [5, 6], type);
      for (const phi of [additiveLogistic(), unitBall(), logCholesky(), stereographic()])
        for (const made of [
          phi.forward(x),
          phi.logDet(x),
          pullVector(phi, x, phi.forward(x)),
          gradLogDet(phi, x),
        ])
          expect(made.dtype).toBe(type);
    }
  });
});

describe("diffusion coefficients", () => {
  const x = [
    [0.4, -0.3, 1.1],
    [-0.9, 0.2, 0.5],
  ];
  const columns = [
    [
      [1, 0.5],
      [-0.2, 2],
      [0.3, -1],
    ],
    [
      [0.1, 0.4],
      [1.5, -0.6],
      [0.7, 0.9],
    ],
  ];
  for (const phi of [unitBall(), additiveLogistic(), sigmoidMap(-1, 1)])
    it(`are moved by J and back by J⁻¹ through the ${phi.name}`, async () => {
      const dense = await run((z, g) => matmul(jacobianOf(phi, z), g), x, columns);
      expect(
        distance(await run((z, g) => pushDiffusion(phi, z, matrix(g)).value, x, columns), dense),
      ).toBeLessThan(1e-14);
      const back = await run(
        (z, g) => pullDiffusion(phi, z, pushDiffusion(phi, z, matrix(g))).value,
        x,
        columns,
      );
      expect(distance(back, columns.flat(2))).toBeLessThan(1e-13);
    });

  it("stay diagonal through a map that acts on each coordinate alone", () => {
    const [z, g] = [input("x", [2, 3], "float64"), input("g", [2], "float64")];
    expect(pushDiffusion(sigmoidMap(), z, scalar(g)).kind).toBe("diagonal");
    expect(pushDiffusion(unitBall(), z, scalar(g)).kind).toBe("matrix");
  });

  it("satisfy J⁻¹Tr[GᵀHG] = g²(1 − 2y) for the additive logistic map", async () => {
    const phi = additiveLogistic();
    const got = await run((z, g) => pullVector(phi, z, itoTrace(phi, z, scalar(g))), x, [0.7, 1.3]);
    const y = await run((z) => phi.forward(z), x);
    expect(
      distance(
        got,
        y.map((v, i) => (i < 3 ? 0.49 : 1.69) * (1 - 2 * v)),
      ),
    ).toBeLessThan(1e-13);
  });
});
