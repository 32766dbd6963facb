import { describe, expect, it } from "vitest";
import {
  abs,
  add,
  addAll,
  cast,
  constant,
  cos,
  dot,
  equal,
  exp,
  expand,
  expandDims,
  eye,
  grad,
  gradEach,
  greater,
  hvp,
  input,
  jacobian,
  jvp,
  laplacian,
  leavesOf,
  log,
  matvec,
  max,
  maximum,
  mul,
  type NdArray,
  neg,
  pow,
  reference,
  simplify,
  sin,
  squaredNorm,
  stopGradient,
  sub,
  sum,
  type Tensor,
  tanh,
  topological,
  traceJacobian,
  transpose,
  valueAndGrad,
  vjp,
  where,
} from "../../src/graph/index.ts";
import { key, normal } from "../../src/random/index.ts";

/** Values of tensors whose inputs are constants. */
const values = (...outputs: Tensor[]): number[][] =>
  reference(outputs, new Map()).map((v) => [...v]);
const number = (t: Tensor): number => values(t)[0][0];
const scalar = (v: number): Tensor => constant(v, "float64");
const zeros = (shape: readonly number[]): NdArray => ({
  shape,
  dtype: "float64",
  data: new Float64Array(shape.reduce((n, d) => n * d, 1)),
});
const random = (name: string, shape: readonly number[]): Tensor => {
  const a: NdArray = normal(key(name), shape, { dtype: "float64" });
  return constant(a, "float64");
};

/** The n-th derivative of a function of one number. */
const nth = (f: (x: Tensor) => Tensor, n: number): ((x: Tensor) => Tensor) =>
  n === 0 ? f : nth(grad(f), n - 1);

const close = (actual: Tensor, expected: Tensor, digits = 12): void => {
  expect(actual.shape).toEqual(expected.shape);
  const [a, b] = values(actual, expected);
  a.forEach((v, i) => {
    expect(v).toBeCloseTo(b[i], digits);
  });
};

describe("trees of tensors", () => {
  const p = {
    a: random("a", [3]),
    b: [random("b", [3]), { c: random("c", [2, 2]) }],
    unused: random("d", [4]),
  } as const;
  type P = typeof p;
  const f = ({ a, b }: P, scale: Tensor): Tensor =>
    add(mul(sum(mul(a, b[0])), scale), sum(exp(b[1].c)));

  it("are returned by grad with the gradient at every leaf, zero where a leaf is not used", () => {
    const g = grad(f)(p, scalar(3));
    close(g.a, mul(p.b[0], 3));
    close(g.b[0], mul(p.a, 3));
    close(g.b[1].c, exp(p.b[1].c));
    close(g.unused, constant([0, 0, 0, 0], "float64"));
  });

  it("give the same value with the gradient as without it", () => {
    const [value, g] = valueAndGrad(f)(p, scalar(3));
    close(value, f(p, scalar(3)));
    close(g.a, grad(f)(p, scalar(3)).a);
  });

  it("map cotangents back and directions forward for any structure", () => {
    const matrix = random("m", [2, 3]);
    const h = ({ x, y }: { x: Tensor; y: Tensor }) =>
      [matvec(matrix, x), { z: mul(x, y) }] as const;
    const at = { x: random("x", [3]), y: random("y", [3]) };
    const u = [random("u", [2]), { z: random("v", [3]) }] as const;
    const [value, pull] = vjp(h, at);
    close(value[0], matvec(matrix, at.x));
    close(pull(u).x, add(matvec(transpose(matrix), u[0]), mul(u[1].z, at.y)));
    close(pull(u).y, mul(u[1].z, at.x));

    const v = { x: random("dx", [3]), y: random("dy", [3]) };
    const [, tangent] = jvp(h, at, v);
    close(tangent[0], matvec(matrix, v.x));
    close(tangent[1].z, add(mul(at.x, v.y), mul(v.x, at.y)));
  });

  it("are matched by key, in any order of the keys", () => {
    const h = (x: { a: Tensor; b: Tensor }): { p: Tensor; q: Tensor } => ({
      p: mul(x.b, 100),
      q: x.a,
    });
    const at = { a: scalar(1), b: scalar(2) };
    const [, tangent] = jvp(h, at, { b: scalar(1), a: scalar(0) });
    expect([number(tangent.p), number(tangent.q)]).toEqual([100, 0]);
    const back = vjp(h, at)[1]({ q: scalar(1), p: scalar(0) });
    expect([number(back.a), number(back.b)]).toEqual([1, 0]);
  });

  it("give zeros for outputs that do not depend on the arguments", () => {
    const [, tangent] = jvp((x: Tensor) => ({ y: sin(x), fixed: scalar(2) }), scalar(1), scalar(1));
    expect(number(tangent.fixed)).toBe(0);
    const [, pull] = vjp((x: Tensor) => [sin(x), scalar(2)], scalar(1));
    expect(number(pull([scalar(0), scalar(5)]))).toBe(0);
  });
});

describe.each([[[3]], [[5, 3]], [[2, 4, 3]]])("per-sample derivatives over shape %s", (shape) => {
  const x = random("x", shape);
  const v = random("v", shape);
  const a = random("matrix", [3, 3]);
  const b = random("wide", [2, 3]);
  /** ½ xᵀAx + Σ sin x, with gradient ½(A + Aᵀ)x + cos x and Hessian ½(A + Aᵀ) − diag sin x. */
  const f = (t: Tensor): Tensor => add(mul(dot(t, matvec(a, t)), 0.5), sum(sin(t), -1));
  const symmetric = mul(add(a, transpose(a)), 0.5);
  const traceOfA = sum(mul(a, eye(3, "float64")));

  it("gradEach gives the gradient of each sample", () => {
    close(gradEach(f)(x), add(matvec(symmetric, x), cos(x)));
  });

  it("hvp is the Hessian times a direction", () => {
    close(hvp(f, x, v), sub(matvec(symmetric, v), mul(sin(x), v)));
  });

  it("laplacian is the trace of the Hessian", () => {
    close(laplacian(f, x), sub(traceOfA, sum(sin(x), -1)));
  });

  it("jacobian is dense, rows for outputs and columns for inputs", () => {
    close(
      jacobian((t) => matvec(b, t), x),
      expand(b, [...shape.slice(0, -1), 2, 3]),
    );
    const curved = (t: Tensor): Tensor => tanh(matvec(b, t));
    close(matvec(jacobian(curved, x), v), jvp(curved, x, v)[1]);
  });

  it("traceJacobian is exact without a direction and vᵀJv with one", () => {
    const h = (t: Tensor): Tensor => add(matvec(a, t), mul(t, expandDims(squaredNorm(t), -1)));
    close(traceJacobian(h, x, v), dot(v, jvp(h, x, v)[1]));
    // Tr(A + ‖x‖²I + 2xxᵀ) = Tr A + (n + 2)‖x‖²
    close(traceJacobian(h, x), add(traceOfA, mul(squaredNorm(x), 5)));
  });
});

describe.each([[[2]], [[4, 2]]])(
  "per-sample derivatives in a tree of tensors of shape %s",
  (shape) => {
    const z = { q: random("q", shape), p: random("p", [...shape.slice(0, -1), 3]) };
    const v = { p: random("vp", z.p.shape), q: random("vq", shape) };
    const m = random("coupling", [2, 3]);
    /** qᵀMp + Σ sin p: Hessian blocks ∂q∂p = M, ∂p∂p = −diag sin p. */
    const energy = ({ q, p }: typeof z): Tensor => add(dot(q, matvec(m, p)), sum(sin(p), -1));

    it("hvp has the blocks of the Hessian at their leaves", () => {
      const { q, p } = hvp(energy, z, v);
      close(q, matvec(m, v.p));
      close(p, sub(matvec(transpose(m), v.q), mul(sin(z.p), v.p)));
    });

    it("jacobian is a tree of outputs of trees of inputs", () => {
      const [j] = jacobian(({ q, p }) => [{ force: tanh(matvec(m, p)), speed: mul(q, 2) }], z);
      close(matvec(j.force.p, v.p), jvp((p: Tensor) => tanh(matvec(m, p)), z.p, v.p)[1]);
      close(j.force.q, constant(zeros([...shape, 2]), "float64"));
      close(j.speed.q, expand(mul(eye(2, "float64"), 2), [...shape, 2]));
      close(j.speed.p, constant(zeros([...shape, 3]), "float64"));
    });

    it("traceJacobian and laplacian sum the diagonal blocks", () => {
      const flow = ({ q, p }: typeof z): typeof z => ({
        p: add(sin(p), sum(q, -1, { keepDims: true })),
        q: mul(q, sum(p, -1, { keepDims: true })),
      });
      const expected = add(sum(cos(z.p), -1), mul(sum(z.p, -1), 2));
      close(traceJacobian(flow, z), expected);
      const along = jvp(flow, z, v)[1];
      close(traceJacobian(flow, z, v), add(dot(v.q, along.q), dot(v.p, along.p)));
      close(laplacian(energy, z), neg(sum(sin(z.p), -1)));
    });
  },
);

describe("derivatives inside derivatives", () => {
  it("do not confuse one variable with another", () => {
    // d/dx (x · d/dy (x + y)) = 1, though both derivatives run through the same x.
    const f = (x: Tensor): Tensor => mul(x, grad((y: Tensor) => add(x, y))(scalar(1)));
    expect(number(grad(f)(scalar(1)))).toBe(1);
    // d/dx (x · d/dy (x²y³)) = d/dx 3x³y² = 9x²y²
    const g = (x: Tensor): Tensor =>
      mul(x, grad((y: Tensor) => mul(pow(x, 2), pow(y, 3)))(scalar(2)));
    expect(number(grad(g)(scalar(5)))).toBe(9 * 25 * 4);
  });

  it("distinguish a variable from an equal outer one", () => {
    // At y = x the inner derivative is that of y alone: d/dx (d/dy (x·y) at y = x) = d/dx x = 1,
    // not 2.
    const f = (x: Tensor): Tensor => grad((y: Tensor) => mul(x, y))(x);
    expect(number(grad(f)(scalar(3)))).toBe(1);
    // d/dx (d/dy (x y²) at y = x) = d/dx 2x² = 4x
    const g = (x: Tensor): Tensor => grad((y: Tensor) => mul(x, mul(y, y)))(x);
    expect(number(grad(g)(scalar(3)))).toBe(12);
  });

  it("commute: ∂²f/∂x∂y = ∂²f/∂y∂x", () => {
    const f = (x: Tensor, y: Tensor): Tensor => exp(mul(sin(x), pow(y, 3)));
    const xy = grad((x: Tensor) => grad((y: Tensor) => f(x, y))(scalar(0.7)))(scalar(0.3));
    const yx = grad((y: Tensor) => grad((x: Tensor) => f(x, y))(scalar(0.3)))(scalar(0.7));
    expect(number(xy)).toBeCloseTo(number(yx), 14);
  });

  it("have any order", () => {
    // (eˣ sin x)⁗ = −4 eˣ sin x
    const f = (x: Tensor): Tensor => mul(exp(x), sin(x));
    const x = scalar(0.6);
    expect(number(nth(f, 4)(x))).toBeCloseTo(-4 * Math.exp(0.6) * Math.sin(0.6), 12);
    expect(number(nth(f, 8)(x))).toBeCloseTo(16 * Math.exp(0.6) * Math.sin(0.6), 10);
  });

  it("of powers stay finite at 0", () => {
    expect([0, 1, 2, 3, 4].map((n) => number(nth((x) => pow(x, 2), n)(scalar(0))))).toEqual([
      0, 0, 2, 0, 0,
    ]);
    expect([0, 1, 2, 3, 4].map((n) => number(nth((x) => pow(x, 3), n)(scalar(0))))).toEqual([
      0, 0, 0, 6, 0,
    ]);
    expect([0, 1, 2].map((n) => number(nth((x) => pow(x, 1), n)(scalar(0))))).toEqual([0, 1, 0]);
  });

  it("with respect to base and exponent agree at an exponent of 0", () => {
    // ∂²/∂a∂b aᵇ = aᵇ⁻¹(1 + b log a) = 1/a at b = 0
    const mixed = grad((b: Tensor) => grad((a: Tensor) => pow(a, b))(scalar(4)))(scalar(0));
    expect(number(mixed)).toBeCloseTo(0.25, 14);
  });
});

describe("derivatives that stop or are shared", () => {
  const x = constant([1, 2, 3], "float64");

  it("stopGradient passes the value and no derivative", () => {
    const f = (t: Tensor): Tensor => sum(mul(t, stopGradient(t)));
    expect(number(f(x))).toBe(14);
    expect(values(grad(f)(x))).toEqual([[1, 2, 3]]);
    expect(values(hvp(f, x, x))).toEqual([[0, 0, 0]]);
  });

  it("cast passes it between float types, and an integer does not", () => {
    const f = (t: Tensor): Tensor => sum(mul(cast(mul(cast(t, "float32"), 2), "float64"), t));
    expect(grad(f)(x).dtype).toBe("float64");
    expect(values(grad(f)(x))).toEqual([[4, 8, 12]]);
    expect(values(grad((t: Tensor) => sum(mul(cast(cast(t, "int32"), "float64"), t)))(x))).toEqual([
      [1, 2, 3],
    ]);
  });

  it("comparisons have no derivative", () => {
    expect(values(grad((t: Tensor) => sum(mul(t, cast(equal(t, 2), "float64"))))(x))).toEqual([
      [0, 1, 0],
    ]);
  });

  it("the largest of several equal numbers share it", () => {
    const ties = constant([5, 1, 5], "float64");
    expect(values(grad((t: Tensor) => max(t))(ties))).toEqual([[0.5, 0, 0.5]]);
    expect(values(grad((t: Tensor) => sum(maximum(t, 5)))(ties))).toEqual([[0.5, 0, 0.5]]);
  });

  it("abs has the mean of its slopes at 0", () => {
    expect(number(grad((t: Tensor) => abs(t))(scalar(0)))).toBe(0);
  });

  it("an unused branch does not contribute if its argument is safe", () => {
    const safe = (t: Tensor): Tensor =>
      where(greater(t, 0), log(where(greater(t, 0), t, 1)), neg(t));
    expect(number(grad(safe)(scalar(-2)))).toBe(-1);
    expect(number(grad(safe)(scalar(4)))).toBe(0.25);
  });
});

describe("large graphs", () => {
  it("may be deeper than the call stack allows", () => {
    const depth = 30_000;
    const x = input("x", [], "float64");
    const chain = (t: Tensor): Tensor => {
      let y = t;
      for (let i = 0; i < depth; i++) y = add(sin(y), t);
      return y;
    };
    const [value, slope] = simplify(valueAndGrad(chain)(x));
    let y = 1;
    let d = 1;
    for (let i = 0; i < depth; i++) [y, d] = [Math.sin(y) + 1, Math.cos(y) * d + 1];
    const [a, b] = reference([value, slope], new Map([[x, Float64Array.of(1)]]));
    expect(a[0]).toBeCloseTo(y, 12);
    expect(b[0]).toBeCloseTo(d, 10);
  });

  it("have gradients of similar size, however often values are shared", () => {
    const size = (n: number): number => {
      const square = (t: Tensor): Tensor =>
        Array.from({ length: n }).reduce<Tensor>((y) => mul(y, y), t);
      return topological(simplify([grad(square)(input("x", [], "float64"))])).length;
    };
    expect(size(60) - size(40)).toBe(size(40) - size(20));
  });

  it("sum the cotangents of all uses", () => {
    const x = constant([1, 2], "float64");
    const f = (t: Tensor): Tensor => sum(addAll([t, t, mul(t, t), neg(t)]));
    expect(values(grad(f)(x))).toEqual([[3, 5]]);
    expect(leavesOf(grad(f)(x))).toHaveLength(1);
  });
});
