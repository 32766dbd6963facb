/**
 * Evaluates a function of one draw's values at many draws: it is compiled for a block of rows and
 * run block by block.
 */
import { type CompileOptions, compile } from "../engine/index.ts";
import { fail, type NdArray, type Shape, sizeOf, type Tensor, vmap } from "../graph/index.ts";
import { mapValues } from "../host/index.ts";
import type { Values } from "./parameters.ts";

/** Numbers by name, the rows on the first axis. */
export type Rows = Readonly<Record<string, { readonly shape: Shape; readonly data: Float64Array }>>;

/** Rows per block. */
const BLOCK = 256;

/** The most numbers of a result over all rows: 4 GB of float64. */
const MOST_NUMBERS = 2 ** 29;

/**
 * The tensors of `f` for every row of `rows`, [count, …] each.
 *
 * @param f a function of one row's values that returns an object of tensors
 */
export async function atRows(
  f: (one: Values) => Readonly<Record<string, Tensor>>,
  rows: Rows,
  count: number,
  { device = "wasm", threads = 1 }: Pick<CompileOptions, "device" | "threads"> = {},
): Promise<Rows> {
  const block = Math.min(BLOCK, count);
  const shapes = mapValues(rows, ({ shape }) => [block, ...shape.slice(1)]);
  const compiled = compile((values: Values) => vmap(f)(values), [shapes], {
    type: "float64",
    device,
    threads,
  });
  const out: Record<string, { shape: Shape; data: Float64Array }> = {};
  try {
    for (let from = 0; from < count; from += block) {
      // The last block is filled up with rows of the block before.
      const first = Math.min(from, count - block);
      const values = mapValues(rows, ({ shape, data }): NdArray => {
        const size = sizeOf(shape.slice(1));
        return {
          shape: [block, ...shape.slice(1)],
          dtype: "float64",
          data: data.slice(first * size, (first + block) * size),
        };
      });
      const found = (await compiled(values)) as Readonly<Record<string, NdArray>>;
      for (const [name, { shape, data }] of Object.entries(found)) {
        const size = sizeOf(shape.slice(1));
        if (count * size > MOST_NUMBERS)
          fail(
            "usage",
            `${count} draws of "${name}" with ${size} numbers each exceed the limit of ` +
              `${MOST_NUMBERS} numbers`,
            "use fewer draws",
          );
        out[name] ??= { shape: [count, ...shape.slice(1)], data: new Float64Array(count * size) };
        out[name].data.set(data as Float64Array, first * size);
      }
    }
  } finally {
    await compiled.dispose();
  }
  return out;
}
