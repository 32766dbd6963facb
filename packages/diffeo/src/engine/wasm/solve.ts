/**
 * Small dense systems, matrix by matrix, with the algorithms of the reference evaluator:
 * Gauss–Jordan elimination with the largest pivot, and the Cholesky factor row by row.
 */
import { type Code, type Expr, i32, int, type Local } from "./code.ts";
import { type Lanes, lanes } from "./lanes.ts";
import type { Module } from "./module.ts";
import { elements, floatOf } from "./operations.ts";
import { count, Stored } from "./stored.ts";

/** Memory for a copy of one matrix. */
function copyOf(module: Module, code: Code, { dtype }: Stored, n: number): Stored {
  const bytes = n * n * elements[dtype].bytes;
  return new Stored(
    code,
    { dtype, shape: [n, n] },
    module.constant({}, () => new Uint8Array(bytes)),
  );
}

const lanesOf = ({ dtype }: Stored): Lanes => lanes[floatOf(dtype) ?? "f64"].one;

/** for (i = from; i < n; i++) */
const between = (code: Code, from: Expr, n: number, f: (i: Local) => void): void =>
  code.loop(from, i32(n), 1, f);

/** The row from c on with the largest entry in column c. */
function pivotRow(code: Code, l: Lanes, a: Stored, n: number, c: Local): Local {
  const p = code.local("i32");
  const most = code.local(l.type);
  code.set(p, c);
  code.set(most, l.abs(a.get(int.add(int.mul(c, i32(n)), c))));
  between(code, int.add(c, i32(1)), n, (r) => {
    const size = code.let(l.abs(a.get(int.add(int.mul(r, i32(n)), c))));
    code.when(l.lt(most, size), () => {
      code.set(p, r);
      code.set(most, size);
    });
  });
  return p;
}

function swapRows(code: Code, a: Stored, at: Expr, n: number, r: Expr, s: Expr): void {
  count(code, n, (j) => {
    const i = code.let(int.add(at, int.add(int.mul(r, i32(n)), j)));
    const k = code.let(int.add(at, int.add(int.mul(s, i32(n)), j)));
    const [x, y] = [a.get(i), a.get(k)];
    a.set(i, y);
    a.set(k, x);
  });
}

function load(code: Code, from: Stored, at: Expr, to: Stored, n: number): void {
  count(code, n * n, (i) => to.set(i, from.get(int.add(at, i))));
}

/** The position of an entry in a matrix of n columns. */
const cellOf =
  (n: number) =>
  (r: Expr, j: Expr): Expr =>
    int.add(int.mul(r, i32(n)), j);

/** Consecutive n × n matrices, and the place of the result. */
export interface System {
  readonly code: Code;
  readonly module: Module;
  readonly n: number;
  readonly x: Stored;
  readonly out: Stored;
  readonly batch: number;
}

/** x⁻¹ by elimination with row pivots. */
export function inverseBlock({ code, module, n, x, out, batch }: System): void {
  const l = lanesOf(x);
  const a = copyOf(module, code, x, n);
  const cell = cellOf(n);
  count(code, batch, (q) => {
    const at = code.let(int.mul(q, i32(n * n)));
    load(code, x, at, a, n);
    count(code, n, (r) =>
      count(code, n, (j) => out.set(int.add(at, cell(r, j)), l.number(int.eq(r, j)))),
    );
    count(code, n, (c) => {
      const p = pivotRow(code, l, a, n, c);
      swapRows(code, a, i32(0), n, c, p);
      swapRows(code, out, at, n, c, p);
      const pivot = a.get(cell(c, c));
      count(code, n, (j) => {
        const i = code.let(cell(c, j));
        a.set(i, l.div(a.get(i), pivot));
        const o = code.let(int.add(at, i));
        out.set(o, l.div(out.get(o), pivot));
      });
      count(code, n, (r) => {
        const factor = a.get(cell(r, c));
        const idle = int.or(int.eq(r, c), l.eq(factor, l.constant(0)));
        code.when(int.eqz(idle), () =>
          count(code, n, (j) => {
            const [i, k] = [code.let(cell(r, j)), code.let(cell(c, j))];
            a.set(i, l.sub(a.get(i), l.mul(factor, a.get(k))));
            const [o, s] = [code.let(int.add(at, i)), int.add(at, k)];
            out.set(o, l.sub(out.get(o), l.mul(factor, out.get(s))));
          }),
        );
      });
    });
  });
}

/** log|det x| by elimination with row pivots. */
export function logAbsDetBlock({ code, module, n, x, out, batch }: System): void {
  const l = lanesOf(x);
  const a = copyOf(module, code, x, n);
  const cell = cellOf(n);
  count(code, batch, (q) => {
    load(code, x, code.let(int.mul(q, i32(n * n))), a, n);
    const total = code.local(l.type);
    code.set(total, l.constant(0));
    count(code, n, (c) => {
      const p = pivotRow(code, l, a, n, c);
      swapRows(code, a, i32(0), n, c, p);
      const pivot = a.get(cell(c, c));
      code.set(total, l.add(total, module.call("log", l, [l.abs(pivot)])));
      code.when(int.eqz(l.eq(pivot, l.constant(0))), () =>
        between(code, int.add(c, i32(1)), n, (r) => {
          const factor = code.let(l.div(a.get(cell(r, c)), pivot));
          between(code, c, n, (j) => {
            const i = code.let(cell(r, j));
            a.set(i, l.sub(a.get(i), l.mul(factor, a.get(cell(c, j)))));
          });
        }),
      );
    });
    out.set(q, total);
  });
}

/** L with L Lᵀ = (x + xᵀ)/2. */
export function choleskyBlock({ code, n, x, out, batch }: System): void {
  const l = lanesOf(x);
  const cell = cellOf(n);
  out.clear();
  count(code, batch, (q) => {
    const at = code.let(int.mul(q, i32(n * n)));
    const place = (r: Expr, j: Expr): Expr => int.add(at, cell(r, j));
    count(code, n, (i) =>
      code.loop(i32(0), int.add(i, i32(1)), 1, (j) => {
        const left = code.local(l.type);
        const both = l.add(x.get(place(i, j)), x.get(place(j, i)));
        code.set(left, l.mul(both, l.constant(0.5)));
        code.loop(i32(0), j, 1, (k) =>
          code.set(left, l.sub(left, l.mul(out.get(place(i, k)), out.get(place(j, k))))),
        );
        code.when(
          int.eq(i, j),
          () => out.set(place(i, j), l.sqrt(left)),
          () => out.set(place(i, j), l.div(left, out.get(place(j, j)))),
        );
      }),
    );
  });
}
