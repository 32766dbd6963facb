/**
 * Operations with separate loops, one number at a time: reading and adding at indices, running
 * sums, sorting, and small dense systems (in `solve.ts`).
 */
import { internal } from "../../graph/error.ts";
import { type DType, type Shape, sizeOf, type Tensor } from "../../graph/index.ts";
import { apply, type Code, type Expr, i32, int, type Local, long, memory, select } from "./code.ts";
import { lanes } from "./lanes.ts";
import type { Module } from "./module.ts";
import { elements, floatOf, literal } from "./operations.ts";
import { choleskyBlock, inverseBlock, logAbsDetBlock, type System } from "./solve.ts";
import { count, Stored } from "./stored.ts";

interface Site {
  readonly code: Code;
  readonly module: Module;
  readonly node: Tensor;
  readonly inputs: readonly Stored[];
  readonly out: Stored;
}

const around = (shape: Shape, axis: number): readonly [number, number, number] => [
  sizeOf(shape.slice(0, axis)),
  shape[axis],
  sizeOf(shape.slice(axis + 1)),
];

const plus = (dtype: DType, a: Expr, b: Expr): Expr => {
  const float = floatOf(dtype);
  if (float) return lanes[float].one.add(a, b);
  return dtype === "int64" ? long.add(a, b) : int.add(a, b);
};

const isGreater = (dtype: DType, a: Expr, b: Expr): Expr => {
  const codes: Record<string, number> = { f64: 0x64, f32: 0x5e, i32: 0x4a, i64: 0x55 };
  return apply("i32", codes[elements[dtype].type], a, b);
};

const notANumber = (dtype: DType): Expr => literal(dtype, floatOf(dtype) ? Number.NaN : 0);

/** Records that an index is out of range. */
function noteOutside({ code, module, node }: Site): void {
  const { number, address } = module.fault(`an index of ${node.op.name} is out of range`);
  code.run(memory(0x36, address), i32(0), i32(number));
}

/** Reads at an index; NaN, or 0 for integers, if the index is out of range. */
function readAt(site: Site, to: Expr, from: Expr, index: Expr, size: number): void {
  const { code, inputs, out } = site;
  code.when(
    int.ltU(index, i32(size)),
    () => out.set(to, inputs[0].get(from)),
    () => {
      out.set(to, notANumber(out.dtype));
      noteOutside(site);
    },
  );
}

function take(site: Site): void {
  const { code, node, inputs } = site;
  const axis = node.attributes.axis as number;
  const [outer, size, inner] = around(inputs[0].shape, axis);
  const picks = sizeOf(inputs[1].shape);
  count(code, outer, (o) =>
    count(code, picks, (j) => {
      const i = inputs[1].index(j, size);
      const to = code.let(int.mul(int.add(int.mul(o, i32(picks)), j), i32(inner)));
      const from = code.let(int.mul(int.add(int.mul(o, i32(size)), i), i32(inner)));
      count(code, inner, (k) => readAt(site, int.add(to, k), int.add(from, k), i, size));
    }),
  );
}

function scatter(site: Site): void {
  const { code, node, inputs, out } = site;
  const [g, at] = inputs;
  const { axis, size } = node.attributes as { axis: number; size: number };
  const outer = sizeOf(node.shape.slice(0, axis));
  const inner = sizeOf(node.shape.slice(axis + 1));
  const picks = sizeOf(at.shape);
  out.clear();
  count(code, outer, (o) =>
    count(code, picks, (j) => {
      const i = at.index(j, size);
      const add = (): void => {
        const from = code.let(int.mul(int.add(int.mul(o, i32(picks)), j), i32(inner)));
        const to = code.let(int.mul(int.add(int.mul(o, i32(size)), i), i32(inner)));
        count(code, inner, (k) => {
          const place = code.let(int.add(to, k));
          out.set(place, plus(out.dtype, out.get(place), g.get(int.add(from, k))));
        });
      };
      code.when(int.ltU(i, i32(size)), add, () => noteOutside(site));
    }),
  );
}

/**
 * Visits the entries of an index array along an axis: `visit` gets the position, and o, j, k of
 * o×n×k.
 */
function along(
  { code }: Site,
  shape: Shape,
  axis: number,
  visit: (at: Expr, o: Local, k: Local) => void,
): void {
  const [outer, size, inner] = around(shape, axis);
  count(code, outer, (o) =>
    count(code, size, (j) => {
      const row = code.let(int.mul(int.add(int.mul(o, i32(size)), j), i32(inner)));
      count(code, inner, (k) => visit(code.let(int.add(row, k)), o, k));
    }),
  );
}

function takeAlong(site: Site): void {
  const { code, node, inputs } = site;
  const axis = node.attributes.axis as number;
  const [, size, inner] = around(inputs[0].shape, axis);
  along(site, node.shape, axis, (at, o, k) => {
    const i = inputs[1].index(at, size);
    const from = int.add(int.mul(int.add(int.mul(o, i32(size)), i), i32(inner)), k);
    readAt(site, at, code.let(from), i, size);
  });
}

function scatterAlong(site: Site): void {
  const { code, node, inputs, out } = site;
  const { axis, size } = node.attributes as { axis: number; size: number };
  const [, , inner] = around(node.shape, axis);
  out.clear();
  along(site, inputs[0].shape, axis, (at, o, k) => {
    const i = inputs[1].index(at, size);
    const add = (): void => {
      const to = code.let(int.add(int.mul(int.add(int.mul(o, i32(size)), i), i32(inner)), k));
      out.set(to, plus(out.dtype, out.get(to), inputs[0].get(at)));
    };
    code.when(int.ltU(i, i32(size)), add, () => noteOutside(site));
  });
}

/**
 * Visits the lines along an axis: `visit` gets the position of the first entry; the step is
 * `inner`.
 */
function lines(
  { code }: Site,
  shape: Shape,
  axis: number,
  visit: (start: Expr, line: Expr) => void,
): void {
  const [outer, size, inner] = around(shape, axis);
  count(code, outer, (o) =>
    count(code, inner, (k) =>
      visit(
        code.let(int.add(int.mul(o, i32(size * inner)), k)),
        code.let(int.add(int.mul(o, i32(inner)), k)),
      ),
    ),
  );
}

function cumsum(site: Site): void {
  const { code, node, inputs, out } = site;
  const [x] = inputs;
  const { axis, exclusive, reverse } = node.attributes as Record<string, never>;
  const [, size, inner] = around(node.shape, axis);
  lines(site, node.shape, axis, (start) => {
    const total = code.local(elements[node.dtype].type);
    code.set(total, literal(node.dtype, 0));
    count(code, size, (j) => {
      const step = reverse ? int.sub(i32(size - 1), j) : j;
      const at = code.let(int.add(start, int.mul(step, i32(inner))));
      const next = code.let(plus(node.dtype, total, x.get(at)));
      out.set(at, exclusive ? total : next);
      code.set(total, next);
    });
  });
}

function argmax(site: Site): void {
  const { code, node, inputs, out } = site;
  const [x] = inputs;
  const axis = node.attributes.axis as number;
  const [, size, inner] = around(x.shape, axis);
  lines(site, x.shape, axis, (start, line) => {
    const best = code.local("i32");
    const most = code.local(elements[x.dtype].type);
    code.set(best, i32(0));
    code.set(most, x.get(start));
    count(code, size, (j) => {
      const value = x.get(int.add(start, int.mul(j, i32(inner))));
      code.when(isGreater(x.dtype, value, most), () => {
        code.set(most, value);
        code.set(best, j);
      });
    });
    out.set(line, long.extend(best));
  });
}

/**
 * The positions of the k most extreme entries by insertion: an entry is inserted before less
 * extreme ones, so that equal entries keep their order. k·n steps per line.
 */
function argTop(site: Site): void {
  const { code, node, inputs, out } = site;
  const [x] = inputs;
  const { k, axis, largest } = node.attributes as { k: number; axis: number; largest: boolean };
  const [, size, inner] = around(x.shape, axis);
  lines(site, x.shape, axis, (start, line) => {
    // The first position of this line in the result.
    const o = code.let(apply("i32", 0x6d, line, i32(inner)));
    const to = code.let(int.add(int.mul(o, i32(k * inner)), int.sub(line, int.mul(o, i32(inner)))));
    const place = (r: Expr): Expr => int.add(to, int.mul(r, i32(inner)));
    const entry = (i: Expr): Expr => x.get(int.add(start, int.mul(i, i32(inner))));
    count(code, size, (j) => {
      const value = entry(j);
      const r = code.local("i32");
      const goes = code.local("i32");
      // Less extreme entries move down, from the last one.
      code.set(r, select(int.lt(j, i32(k)), j, i32(k)));
      code.set(goes, i32(1));
      code.while(
        () => int.and(goes, int.lt(i32(0), r)),
        () => {
          const held = code.let(long.wrap(out.get(place(int.sub(r, i32(1))))));
          const other = entry(held);
          const before = largest
            ? isGreater(x.dtype, value, other)
            : isGreater(x.dtype, other, value);
          code.set(goes, before);
          code.when(goes, () => {
            code.when(int.lt(r, i32(k)), () => out.set(place(r), long.extend(held)));
            code.set(r, int.sub(r, i32(1)));
          });
        },
      );
      code.when(int.lt(r, i32(k)), () => out.set(place(r), long.extend(j)));
    });
  });
}

const system =
  (write: (system: System) => void) =>
  ({ code, module, inputs: [x], out }: Site): void => {
    const n = x.shape.at(-1) as number;
    write({ code, module, n, x, out, batch: sizeOf(x.shape.slice(0, -2)) });
  };

const blocks: Readonly<Record<string, (site: Site) => void>> = {
  take,
  takeAlong,
  scatterAdd: scatter,
  scatterAlong,
  cumsum,
  argmax,
  argTop,
  inverse: system(inverseBlock),
  logAbsDet: system(logAbsDetBlock),
  cholesky: system(choleskyBlock),
};

/** Whether a node is computed by a separate routine. */
export const isBlock = ({ op }: Tensor): boolean => Object.hasOwn(blocks, op.name);

/** Writes the loops of a node; `address` returns the addresses of its result and inputs. */
export function writeBlock(
  code: Code,
  module: Module,
  node: Tensor,
  address: (t: Tensor) => number,
): void {
  const stored = (t: Tensor): Stored => new Stored(code, t, address(t));
  const write = blocks[node.op.name] ?? internal(`${node.op.name} has no block`);
  write({ code, module, node, inputs: node.inputs.map(stored), out: stored(node) });
}
