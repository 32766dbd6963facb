import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  additiveLogistic,
  affine,
  affineCoupling,
  affineMatrix,
  type Bijector,
  blocks,
  chain,
  contains,
  type Diffusion,
  denseDiffusion,
  each,
  expMap,
  invert,
  isometricLogRatio,
  itoTrace,
  logCholesky,
  ordered,
  permutation,
  pushVector,
  rationalQuadraticSpline,
  sigmoidMap,
  softplusMap,
  stereographic,
  stickBreaking,
  unitBall,
  whereMask,
} from "../../src/bijector/index.ts";
import {
  add,
  cast,
  exp,
  grad,
  input,
  mul,
  type Nested,
  sum,
  type Tensor,
  tanh,
} from "../../src/graph/index.ts";
import { distance, run } from "./support.ts";

const forward = (phi: Bijector, x: readonly number[]): Promise<number[]> =>
  run((z) => phi.forward(z), x);

describe("the simplex", () => {
  it("is the paper's additive logistic map, shares e^x over 1 + Σ e^x", async () => {
    const x = [0.5, -1, 2];
    const total = 1 + x.reduce((s, v) => s + Math.exp(v), 0);
    expect(
      distance(
        await forward(additiveLogistic(), x),
        x.map((v) => Math.exp(v) / total),
      ),
    ).toBeLessThan(1e-15);
  });

  it("has equal shares at 0 for centred stick-breaking, and halves of halves without centring", async () => {
    expect(distance(await forward(stickBreaking(), [0, 0, 0]), [0.25, 0.25, 0.25])).toBeLessThan(
      1e-15,
    );
    expect(
      distance(await forward(stickBreaking({ centred: false }), [0, 0, 0]), [0.5, 0.25, 0.125]),
    ).toBeLessThan(1e-15);
    expect(
      distance(await forward(isometricLogRatio(), [0, 0, 0]), [0.25, 0.25, 0.25]),
    ).toBeLessThan(1e-15);
  });

  it("keeps Aitchison's distance in isometric coordinates", async () => {
    const [a, b] = [
      [0.3, -1.2, 0.8],
      [-0.5, 0.4, 1.1],
    ];
    const clr = async (x: readonly number[]): Promise<number[]> => {
      const y = await forward(isometricLogRatio(), x);
      const logs = [...y, 1 - y.reduce((s, v) => s + v, 0)].map(Math.log);
      const mean = logs.reduce((s, v) => s + v, 0) / logs.length;
      return logs.map((v) => v - mean);
    };
    const [ca, cb] = [await clr(a), await clr(b)];
    const between = (p: readonly number[], q: readonly number[]): number =>
      Math.hypot(...p.map((v, i) => v - q[i]));
    expect(between(ca, cb)).toBeCloseTo(between(a, b), 12);
  });
});

describe("monotone splines", () => {
  const flat = { widths: [[0, 0, 0, 0]], heights: [[0, 0, 0, 0]], slopes: [[0, 0, 0]] };
  const bent = {
    widths: [[0.7, -0.4, 1, 0.1]],
    heights: [[-1, 0.9, 0.2, -0.3]],
    slopes: [[1.2, -0.8, 0.5]],
  };

  it("are the identity with no parameters set, and outside their bound", async () => {
    const x = [-5, -2.9, -1.5, -0.2, 0, 0.7, 2.2, 3, 8];
    expect(distance(await forward(rationalQuadraticSpline(flat), x), x)).toBeLessThan(1e-14);
    const out = [-9, -3, 3, 4.5];
    expect(await forward(rationalQuadraticSpline(bent), out)).toEqual(out);
  });

  it("increase everywhere, with a continuous slope: its greatest step shrinks with the grid", async () => {
    const spline = rationalQuadraticSpline(bent);
    const largestStep = async (count: number): Promise<number> => {
      const x = Array.from({ length: count + 1 }, (_, i) => -4 + (8 * i) / count);
      const y = await forward(spline, x);
      expect(y.every((v, i) => i === 0 || v > y[i - 1])).toBe(true);
      const slope = await run((z) => pushVector(spline, z, add(mul(z, 0), 1)), x);
      return Math.max(...slope.slice(1).map((v, i) => Math.abs(v - slope[i])));
    };
    const [coarse, fine] = [await largestStep(2000), await largestStep(20000)];
    expect(coarse / fine).toBeGreaterThan(9);
  });

  it("learn: gradients reach the parameters", async () => {
    const loss = (w: Tensor, x: Tensor): Tensor =>
      sum(rationalQuadraticSpline({ ...bent, widths: w }).logDet(x));
    const x = [-1.7, 0.3, 1.9];
    const gradient = await run((w, z) => grad(loss)(w, z), bent.widths, x);
    const at = async (k: number, h: number): Promise<number> =>
      (await run(loss, [bent.widths[0].map((v, i) => (i === k ? v + h : v))], x))[0];
    for (let k = 0; k < 4; k++)
      expect(
        Math.abs(gradient[k] - ((await at(k, 1e-6)) - (await at(k, -1e-6))) / 2e-6),
      ).toBeLessThan(1e-8);
  });
});

describe("couplings", () => {
  it("keep the masked coordinates in order, and change the others", async () => {
    const phi = affineCoupling({
      keep: [false, true, false, true, false],
      conditioner: (kept) => ({
        logScale: mul(sum(kept, -1, { keepDims: true }), 0),
        shift: sum(kept, -1, { keepDims: true }),
      }),
    });
    expect(await forward(phi, [1, 20, 3, 400, 5])).toEqual([421, 20, 423, 400, 425]);
    expect(await run((y) => phi.inverse(y), [421, 20, 423, 400, 425])).toEqual([1, 20, 3, 400, 5]);
  });

  it("keep the others with `flip`, so that two change every coordinate", async () => {
    const half = (flip: boolean): Bijector =>
      affineCoupling({
        keep: [1, 0, 1, 0],
        flip,
        conditioner: (kept) => ({ logScale: tanh(kept), shift: kept }),
      });
    const x = [0.5, -1, 2, 0.25];
    const y = await forward(chain(half(false), half(true)), x);
    expect(y.every((v, i) => v !== x[i])).toBe(true);
    expect(
      distance(await run((z) => chain(half(false), half(true)).inverse(z), y), x),
    ).toBeLessThan(1e-14);
  });

  it("learn: gradients reach the conditioner's parameters", async () => {
    const loss = (w: Tensor, x: Tensor): Tensor => {
      const phi = affineCoupling({
        keep: 1,
        conditioner: (kept) => ({ logScale: tanh(mul(kept, w)), shift: mul(kept, 2) }),
      });
      return add(sum(phi.logDet(x)), sum(phi.inverse(x)));
    };
    const x = [
      [0.4, -1],
      [1.3, 0.6],
    ];
    const [gradient] = await run((w, z) => grad(loss)(w, z), [0.8], x);
    const at = async (w: number): Promise<number> => (await run(loss, [w], x))[0];
    expect(
      Math.abs(gradient - ((await at(0.8 + 1e-6)) - (await at(0.8 - 1e-6))) / 2e-6),
    ).toBeLessThan(1e-8);
  });
});

describe("combinators", () => {
  const matrix = affineMatrix(
    [
      [1, 0.5],
      [-0.3, 2],
    ],
    [1, -1],
  );

  it("compose in the order they are written", async () => {
    const y = await forward(chain(affine({ scale: 2 }), expMap()), [0.5]);
    expect(y[0]).toBeCloseTo(Math.E, 14);
  });

  it("are inverse to each other: φ⁻¹ of φ⁻¹ is φ", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 2, maxLength: 2 }),
        async (x) => {
          for (const phi of [matrix, additiveLogistic(), unitBall()]) {
            const [a, b] = [phi, invert(invert(phi))];
            expect(distance(await forward(a, x), await forward(b, x))).toBeLessThan(1e-12);
            expect(
              distance(await run((z) => a.logDet(z), x), await run((z) => b.logDet(z), x)),
            ).toBeLessThan(1e-10);
          }
        },
      ),
      { numRuns: 10 },
    ));

  it("act on their own coordinates only", async () => {
    const y = await forward(
      blocks([
        { map: expMap(), size: 1 },
        { map: stereographic(), size: 1, sizeY: 2 },
        { map: matrix, size: 2 },
      ]),
      [1, 1, 2, 4],
    );
    expect(distance(y, [Math.E, 1, 0, 5, 6.4])).toBeLessThan(1e-14);
  });

  it("do not change coordinates outside a mask, nor spread NaN from them", async () => {
    const phi = whereMask([1, 0], sigmoidMap());
    expect(distance(await forward(phi, [0, 7]), [0.5, 7])).toBeLessThan(1e-15);
    // 7 is not a value of the sigmoid: the branch not taken must not poison the derivative.
    const gradient = await run(
      grad((y: Tensor) => sum(phi.inverse(y))),
      [0.5, 7],
    );
    expect(distance(gradient, [4, 1])).toBeLessThan(1e-12);
  });

  it("choose sites of a grid by a mask", async () => {
    const phi = each(whereMask([1, 0], additiveLogistic()));
    const y = await run(
      (x) => phi.forward(x),
      [
        [0, 0],
        [5, -5],
      ],
    );
    expect(distance(y, [1 / 3, 1 / 3, 5, -5])).toBeLessThan(1e-15);
  });
});

describe("the image of a map", () => {
  const cases: readonly (readonly [string, Bijector, readonly number[], readonly number[][]])[] = [
    [
      "a box",
      sigmoidMap(-1, 3),
      [0, 2.9],
      [
        [0, 3.1],
        [-1, 0],
        [0, Number.NaN],
      ],
    ],
    [
      "positive numbers",
      expMap(),
      [1e-9, 4],
      [
        [0, 1],
        [-1, 1],
      ],
    ],
    [
      "positive numbers, by softplus",
      softplusMap(),
      [1e-9, 4],
      [
        [0, 1],
        [-1, 1],
      ],
    ],
    [
      "the simplex",
      additiveLogistic(),
      [0.2, 0.7],
      [
        [0.2, 0.9],
        [-0.1, 0.5],
        [0.5, 0.5],
        [-0.5, 2],
      ],
    ],
    [
      "the simplex, by sticks",
      stickBreaking(),
      [0.2, 0.7],
      [
        [0.2, 0.9],
        [-0.1, 0.5],
        [1.2, -0.4],
      ],
    ],
    [
      "increasing vectors",
      ordered(),
      [-1, 2],
      [
        [1, 1],
        [2, 1],
      ],
    ],
    [
      "the ball",
      unitBall(),
      [0.6, 0.7],
      [
        [0.6, 0.8],
        [1, 1],
      ],
    ],
    [
      "the sphere",
      stereographic(),
      [0.6, 0.8],
      [
        [0.6, 0.7],
        [0, 1],
      ],
    ],
    [
      "positive-definite matrices",
      logCholesky(),
      [2, 1, 3],
      [
        [1, 2, 3],
        [-1, 0, 1],
      ],
    ],
    ["positive-definite matrices of one row", logCholesky(), [2], [[0]]],
    ["a chain", chain(expMap(), affine({ scale: -1 })), [-1, -2], [[-1, 0.5]]],
  ];
  for (const [name, phi, inside, outside] of cases)
    it(`tells ${name} from the rest`, async () => {
      const check = (y: readonly number[]): Promise<number[]> =>
        run((z) => cast(contains(phi, z), "float64"), y);
      expect(await check(inside)).toEqual([1]);
      for (const y of outside) expect(await check(y), `${y}`).toEqual([0]);
    });

  it("holds a grid only if it holds every site", async () => {
    const check = (y: readonly number[][]): Promise<number[]> =>
      run((z) => cast(contains(each(expMap()), z), "float64"), y);
    expect(
      await check([
        [1, 2],
        [3, 4],
      ]),
    ).toEqual([1]);
    expect(
      await check([
        [1, 2],
        [3, -4],
      ]),
    ).toEqual([0]);
  });
});

describe("permutations", () => {
  it("put coordinate π(i) at place i, and back", async () => {
    const phi = permutation([2, 0, 1]);
    expect(await forward(phi, [10, 20, 30])).toEqual([30, 10, 20]);
    expect(await run((y) => phi.inverse(y), [30, 10, 20])).toEqual([10, 20, 30]);
    expect(await forward(chain(phi, invert(phi)), [1, 2, 3])).toEqual([1, 2, 3]);
  });
});

describe("a diffusion coefficient as a matrix", () => {
  it("is gI, diag(g) or itself, for every element of a batch", async () => {
    const dense = (
      kind: Diffusion["kind"],
      event: readonly number[],
      value: Nested,
    ): Promise<number[]> => run((g) => denseDiffusion({ kind, value: g }, event), value);
    expect(await dense("scalar", [2], [3, 5])).toEqual([3, 0, 0, 3, 5, 0, 0, 5]);
    expect(await dense("scalar", [1, 2], 7)).toEqual([7, 0, 0, 7]);
    expect(
      await dense(
        "diagonal",
        [2],
        [
          [1, 2],
          [3, 4],
        ],
      ),
    ).toEqual([1, 0, 0, 2, 3, 0, 0, 4]);
    expect(await dense("diagonal", [2, 1], [[1], [2]])).toEqual([1, 0, 0, 2]);
    expect(
      await dense(
        "matrix",
        [2],
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
      ),
    ).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("has the columns of the Itô terms", async () => {
    for (const kind of ["scalar", "diagonal"] as const) {
      const g =
        kind === "scalar"
          ? [0.5, 2]
          : [
              [1, -2, 0.5],
              [3, 4, -1],
            ];
      const x = [
        [1, 2, 3],
        [4, 5, 6],
      ];
      const whole = await run((z, v) => itoTrace(additiveLogistic(), z, { kind, value: v }), x, g);
      const matrix = await run(
        (z, v) =>
          itoTrace(additiveLogistic(), z, {
            kind: "matrix",
            value: denseDiffusion({ kind, value: v }, [3]),
          }),
        x,
        g,
      );
      expect(distance(whole, matrix)).toBeLessThan(1e-15);
    }
  });
});

describe("a matrix of very different units", () => {
  it("is not singular, and its map is exact", async () => {
    const matrix = [
      [0.97, 0.08],
      [8e-19, 1e-17],
    ];
    const map = affineMatrix(matrix, [3, 1e-17]);
    const y = await forward(map, [2, -5]);
    expect(y[0]).toBeCloseTo(0.97 * 2 - 0.08 * 5 + 3, 14);
    expect(y[1] * 1e17).toBeCloseTo(0.08 * 2 - 5 + 1, 14);
    const x = await run((z) => map.inverse(z), y);
    expect(x[0]).toBeCloseTo(2, 13);
    expect(x[1]).toBeCloseTo(-5, 13);
  });
});

describe("bad input is an error with a remedy", () => {
  const x = input("x", [4], "float64");
  const cases: readonly (readonly [string, () => unknown, RegExp])[] = [
    ["a scale of 0", () => affine({ scale: [1, 0] }), /the scale \[1,0\] has no inverse/],
    [
      "a singular matrix",
      () =>
        affineMatrix([
          [1, 2],
          [2, 4],
        ]),
      /\[\[1,2\],\[2,4\]\] is singular/,
    ],
    [
      "a matrix singular to rounding",
      () =>
        affineMatrix([
          [0.1, 0.2],
          [0.3, 0.6],
        ]),
      /is singular/,
    ],
    ["an empty interval", () => sigmoidMap(2, 1), /\(2, 1\) is not an interval/],
    ["an empty chain", () => chain(), /chain: no maps/],
    [
      "a chain of different event ranks",
      () => chain(expMap(), each(expMap())),
      /acts on events of 1 axes.* on 2/,
    ],
    [
      "the log-determinant of a chain with an embedding in the middle",
      () => chain(stereographic(), expMap()).logDet(x),
      /events of shape \[4\] to \[5\] and is not the last/,
    ],
    [
      "a point through a chain with an embedding in the middle",
      () => chain(stereographic(), expMap()).forward(x),
      /events of shape \[4\] to \[5\] and is not the last/,
    ],
    [
      "a point back through a chain with an embedding in the middle",
      () => chain(expMap(), stereographic(), expMap()).inverse(x),
      /events of shape \[3\] to \[4\] and is not the last/,
    ],
    [
      "blocks that do not add up",
      () => blocks([{ map: expMap(), size: 3 }]).forward(x),
      /\[4\] has 4 coordinates, the blocks have 3/,
    ],
    [
      "blocks of grids",
      () => blocks([{ map: each(expMap()), size: 3 }]),
      /acts on events of 2 axes/,
    ],
    [
      "a triangle with a piece missing",
      () => logCholesky().forward(x),
      /4 numbers do not fill a lower triangle/,
    ],
    [
      "a coupling that keeps everything",
      () => affineCoupling({ keep: 4, conditioner: (k) => ({ logScale: k, shift: k }) }).forward(x),
      /keeps 4 of 4 coordinates/,
    ],
    [
      "a coupling whose mask keeps nothing",
      () =>
        affineCoupling({
          keep: [0, 0, 0, 0],
          conditioner: (k) => ({ logScale: k, shift: k }),
        }).forward(x),
      /keeps 0 of 4 coordinates/,
    ],
    [
      "a coupling whose mask is too short",
      () =>
        affineCoupling({ keep: [1, 0], conditioner: (k) => ({ logScale: k, shift: k }) }).forward(
          x,
        ),
      /`keep` has 2 entries, events of shape \[4\] have 4 coordinates/,
    ],
    [
      "an order that names one coordinate twice",
      () => permutation([0, 2, 2]),
      /\[0,2,2\] is not a permutation of 0 … 2/,
    ],
    [
      "an order of another length",
      () => permutation([1, 0]).forward(x),
      /the event has 4 coordinates, the order has 2/,
    ],
    [
      "masks over maps of different ranks",
      () => whereMask([1, 0], each(expMap())),
      /acts on events of 2 axes/,
    ],
    [
      "a spline of one bin",
      () => rationalQuadraticSpline({ widths: [[0]], heights: [[0]], slopes: [[0]] }).forward(x),
      /at least 2 bins/,
    ],
    [
      "a spline without a width",
      () => rationalQuadraticSpline({ widths: 0, heights: 0, slopes: 0, bound: 0 }),
      /`bound` is 0/,
    ],
  ];
  for (const [what, attempt, message] of cases) it(what, () => expect(attempt).toThrow(message));
});

it("learned scales may be tensors", async () => {
  const y = await run((x, a) => affine({ scale: exp(a), shift: a }).forward(x), [1, 2], [0, 1]);
  expect(distance(y, [1, 2 * Math.E + 1])).toBeLessThan(1e-15);
  const back = await run(
    (x, m) => affineMatrix(m).inverse(affineMatrix(m).forward(x)),
    [1, 2],
    [
      [1, 2],
      [3, 4],
    ],
  );
  expect(distance(back, [1, 2])).toBeLessThan(1e-13);
});
