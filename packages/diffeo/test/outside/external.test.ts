/**
 * Scores that are functions on arrays: the same numbers and the same number of calls as the score
 * inside the graph.
 */
import { describe, expect, it } from "vitest";
import { additiveLogistic, expMap } from "../../src/bijector/index.ts";
import { type Compiled, compile } from "../../src/engine/index.ts";
import {
  add,
  div,
  exp,
  expandDims,
  jvp,
  mul,
  type NdArray,
  ndarray,
  neg,
  onesLike,
  sqrt,
  sub,
  sum,
  type Tensor,
  vjp,
} from "../../src/graph/index.ts";
import { external, type Prediction } from "../../src/outside/index.ts";
import { key } from "../../src/random/index.ts";
import {
  eulerMaruyama,
  logDensity,
  rungeKutta,
  type Solver,
  type SolverName,
  sample,
  solvers,
} from "../../src/sampler/index.ts";
import {
  edm,
  interpolant,
  type MarginalScore,
  reverse,
  reversePush,
  subVp,
  timeAtRatio,
  ve,
  vp,
} from "../../src/sde/index.ts";
import { clusters, exactScore } from "../sampler/tools.ts";

const sde = vp();
const inside = exactScore(sde, clusters(2));

/** A score as a function on arrays, with a count of its calls and their rows. */
function hosted(score: MarginalScore): {
  f: (x: NdArray, t: NdArray) => Promise<NdArray>;
  calls: number[];
} {
  const run: Compiled<[Tensor, Tensor], Tensor> = compile(score, [[null, 2], [null]], {
    type: "float64",
    threads: 1,
  });
  const calls: number[] = [];
  const f = async (x: NdArray, t: NdArray): Promise<NdArray> => {
    calls.push(x.shape[0]);
    return run(x, t);
  };
  return { f, calls };
}

const difference = (a: NdArray, b: NdArray): number =>
  Math.max(...Array.from(a.data as Float64Array, (v, i) => Math.abs(v - Number(b.data[i]))));

describe("a score outside of the graph", () => {
  const methods: readonly (SolverName | Solver)[] = [
    ...(Object.keys(solvers) as SolverName[]).filter(
      (name) => !["eulerMaruyama", "milstein", "rungeKutta"].includes(name),
    ),
    eulerMaruyama({ onExit: "hold" }),
    rungeKutta({ tolerance: 1e-3 }),
  ];

  it.each(methods.map((m) => [typeof m === "string" ? m : m.name, m] as const))(
    "%s takes the steps it takes with the score inside, and calls it as often as it says",
    async (name, solver) => {
      const { f, calls } = hosted(inside);
      const run = (score: MarginalScore) =>
        sample(reversePush(sde, additiveLogistic(), score), {
          shape: [2],
          count: 7,
          key: key(1),
          ...(name === "rungeKutta" ? {} : { steps: 9 }),
          ...(name === "predictorCorrector" ? {} : { driftScale: 1.03, timeDilation: 0.9 }),
          type: "float64",
          threads: 1,
          solver,
          denoise: true,
        });
      const [own, other] = [await run(inside), await run(external(f))];
      expect(difference(own.samples, other.samples)).toBeLessThan(1e-12);
      expect(calls).toEqual(new Array(other.scoreEvaluations).fill(7));
    },
  );

  it("works with known values and with energies", async () => {
    const { f } = hosted(inside);
    const known = { mask: ndarray([1, 0]), value: ndarray([0.7, 1]), resample: 2 };
    const run = (score: MarginalScore) =>
      sample(reversePush(sde, expMap(), score), {
        shape: [2],
        count: 5,
        key: key(2),
        steps: 8,
        known,
        energy: (y: Tensor) => sum(y, -1),
        guidance: 0.5,
        type: "float64",
      });
    const [own, other] = [await run(inside), await run(external(f))];
    expect(difference(own.samples, other.samples)).toBeLessThan(1e-12);
  });

  it("is called in batches, with the caller's batch axes as rows", async () => {
    const { f, calls } = hosted(inside);
    const run = compile(
      external(f, { batch: 4 }),
      [
        [2, 3, 2],
        [2, 3],
      ],
      { type: "float64" },
    );
    const x = Array.from({ length: 2 }, (_, i) =>
      Array.from({ length: 3 }, (__, j) => [0.2 * i - 0.1 * j, 0.3 * j]),
    );
    const t = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]; // biome-ignore format: a matrix
    const own = compile(
      inside,
      [
        [2, 3, 2],
        [2, 3],
      ],
      { type: "float64" },
    );
    expect(difference(await run(x, t), await own(x, t))).toBeLessThan(1e-14);
    expect(calls).toEqual([4, 2]);
  });

  it.each([vp(), subVp(), ve({ sigmaMax: 5 }), interpolant(), edm({ sigmaMax: 3 })])(
    "makes one score of every prediction ($name)",
    async (sde) => {
      const score = exactScore(sde, clusters(2));
      const { meanFactor: m, std: s } = sde.transition;
      const of = (build: (x: Tensor, sc: Tensor, mt: Tensor, st: Tensor) => Tensor) =>
        hosted((x, t) => {
          const column = (v: Tensor): Tensor => expandDims(v, -1);
          return build(x, score(x, t), column(m(t)), column(s(t)));
        }).f;
      const noise = (sc: Tensor, st: Tensor): Tensor => mul(mul(sc, st), -1);
      const data = (x: Tensor, sc: Tensor, mt: Tensor, st: Tensor): Tensor =>
        div(add(x, mul(sc, mul(st, st))), mt);
      const forms: Readonly<
        Record<Exclude<Prediction, "score">, (x: NdArray, t: NdArray) => Promise<NdArray>>
      > = {
        noise: of((_, sc, __, st) => noise(sc, st)),
        x0: of(data),
        v: of((x, sc, mt, st) => sub(mul(noise(sc, st), mt), mul(data(x, sc, mt, st), st))),
        velocity: hosted((x, t) => flow(x, t)).f,
        velocityToData: hosted((x, t) => neg(flow(x, sub(1, t)))).f,
        edm: hosted((x, quarter) => preconditioned(x, quarter)).f,
      };
      // ẋ = ṁ x₀ + σ̇ ε
      const flow = (x: Tensor, t: Tensor): Tensor => {
        const [[mt, mr], [st, sr]] = [m, s].map((f) =>
          jvp(f, t, onesLike(t)).map((v) => expandDims(v, -1)),
        );
        const sc = score(x, t);
        return add(mul(data(x, sc, mt, st), mr), mul(noise(sc, st), sr));
      };
      // D(z; r) = c_skip z + c_out F(c_in z, ¼ log r), as Karras et al. print it
      const d = 0.7;
      const preconditioned = (scaled: Tensor, quarter: Tensor): Tensor => {
        const r = exp(mul(quarter, 4));
        const t = timeAtRatio(sde, r);
        const [mt, st, ratio] = [m(t), s(t), r].map((v) => expandDims(v, -1));
        const wide = add(mul(ratio, ratio), d * d);
        const z = mul(scaled, sqrt(wide));
        const x = mul(z, mt);
        const skipped = sub(data(x, score(x, t), mt, st), mul(div(d * d, wide), z));
        return div(skipped, div(mul(ratio, d), sqrt(wide)));
      };
      const [x, t] = [ndarray([[0.4, -1], [1.2, 0.3]], "float64"), ndarray([0.2, 0.8], "float64")]; // biome-ignore format: points
      const exact = compile(score, [[2, 2], [2]], { type: "float64" });
      const wanted = await exact(x, t);
      for (const [predicts, f] of Object.entries(forms)) {
        const run = compile(
          external(f, { predicts: predicts as Prediction, sde, sigmaData: d }),
          [[2, 2], [2]],
          {
            type: "float64",
          },
        );
        expect(difference(await run(x, t), wanted), predicts).toBeLessThan(1e-9);
      }
    },
  );
});

describe("derivatives by differences", () => {
  const { f } = hosted(inside);
  const [x, t, u] = [ndarray([[0.4, -1], [1.2, 0.3], [0, 0]], "float64"), ndarray([0.2, 0.5, 0.9], "float64"), ndarray([[1, -2], [0.3, 0.1], [0, 0]], "float64")]; // biome-ignore format: points
  const products = async (score: MarginalScore) => {
    const run = compile(
      (p: Tensor, s: Tensor, v: Tensor) => [
        jvp((z: Tensor) => score(z, s), p, v)[1],
        vjp((z: Tensor) => score(z, s), p)[1](v),
      ],
      [[3, 2], [3], [3, 2]],
      { type: "float64" },
    );
    return (await run(x, t, u)) as readonly NdArray[];
  };

  it("are of second order in their length, for J u and for uᵀJ", async () => {
    const exact = await products(inside);
    const errors = await Promise.all(
      [0.1, 0.05].map(async (differences) => {
        const found = await products(external(f, { differences, sde }));
        return found.map((p, i) => difference(p, exact[i]));
      }),
    );
    for (const i of [0, 1]) {
      expect(errors[1][i]).toBeLessThan(5e-3);
      expect(errors[0][i] / errors[1][i]).toBeGreaterThan(3.6);
      expect(errors[0][i] / errors[1][i]).toBeLessThan(4.4);
    }
  });

  it("make a likelihood, exact or by Hutchinson's estimate", async () => {
    const y = ndarray([[0.3, 0.4], [0.1, 0.2]], "float64"); // biome-ignore format: points
    for (const divergence of ["exact", { probes: 3, key: key(4) }] as const) {
      const options = {
        type: "float64",
        divergence,
        threads: 1,
        tStart: 0.01,
        tolerance: 1e-4,
      } as const;
      const of = async (score: MarginalScore) =>
        (await logDensity(reversePush(sde, additiveLogistic(), score), y, options)).logDensity;
      expect(
        difference(await of(external(f, { differences: 0.003, sde })), await of(inside)),
      ).toBeLessThan(5e-5);
    }
  });

  it("are of first order only, and with respect to x only", async () => {
    const score = external(f, { differences: 0.01, sde });
    const twice = compile(
      (p: Tensor, s: Tensor) =>
        jvp((z: Tensor) => vjp((q: Tensor) => score(q, s), z)[1](z), p, p)[1],
      [[1, 2], [1]],
    );
    await expect(twice([[0, 1]], [0.5])).rejects.toThrow(/second derivative/);
    const inTime = compile(
      (p: Tensor, s: Tensor) => jvp((r: Tensor) => score(p, r), s, s)[1],
      [[1, 2], [1]],
    );
    await expect(inTime([[0, 1]], [0.5])).rejects.toThrow(/derivative in t/);
  });
});

describe("an external score in one line", () => {
  it("passes the numbers of x without a cast", async () => {
    const score = external(({ data }) => data.map((v) => -v));
    const { samples } = await sample(reverse(vp(), score), {
      shape: [2],
      count: 3,
      steps: 2,
      key: key(1),
    });
    expect(samples.shape).toEqual([3, 2]);
  });
});

describe("an error of an external score", () => {
  const run = (f: unknown) =>
    sample(reverse(vp(), external(f as never)), { shape: [2], count: 3, steps: 2, key: key(1) });

  it("is reported", async () => {
    await expect(run(async () => new Float32Array(5))).rejects.toThrow(
      /returned 5 numbers for 3 events of 2/,
    );
    await expect(run(async () => ({ values: 1 }))).rejects.toThrow(/returned an object/);
    await expect(
      run(async ({ data, dtype }: NdArray) => ({ shape: [2, 3], data, dtype })),
    ).rejects.toThrow(/returned an array of shape \[2, 3\] for events of \[3, 2\]/);
    const carried = JSON.parse(JSON.stringify([0, 1, 2, 3, Number.NaN, 5]));
    await expect(run(async () => carried)).rejects.toThrow(
      /returned null instead of a number, at the flat index 4/,
    );
    await expect(run(async () => new Float32Array(6).fill(Number.NaN))).rejects.toThrow(
      /the score is NaN for sample 0/,
    );
    await expect(async () => run(3)).rejects.toThrow(/give a function of \(x, t\)/i);
    const offline = new Error("the server is down");
    await expect(run(() => Promise.reject(offline))).rejects.toBe(offline);
  });

  it("is reported if an async function is given without the option", async () => {
    const bare = (async () => new Float32Array(6)) as unknown as MarginalScore;
    await expect(
      sample(reverse(vp(), bare), { shape: [2], count: 3, key: key(1) }),
    ).rejects.toThrow(/returned a promise, not a tensor. Use external\(async/);
  });
});
