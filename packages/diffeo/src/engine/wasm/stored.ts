/** Arrays in memory, as handwritten loops read and write them. */
import { type DType, type Shape, sizeOf, type Tensor } from "../../graph/index.ts";
import { type Code, type Expr, i32, int, type Local, long, select } from "./code.ts";
import { elements, loadOne, storeOne } from "./operations.ts";

/** for (i = 0; i < n; i++) */
export const count = (code: Code, n: number, f: (i: Local) => void): void => {
  if (n > 0) code.loop(i32(0), i32(n), 1, f, true);
};

/** A stored array. */
export class Stored {
  readonly #code: Code;
  readonly #address: number;
  readonly dtype: DType;
  readonly shape: Shape;

  constructor(code: Code, { dtype, shape }: Pick<Tensor, "dtype" | "shape">, address: number) {
    this.#code = code;
    this.#address = address;
    this.dtype = dtype;
    this.shape = shape;
  }

  #at(index: Expr): Expr {
    return int.mul(index, i32(elements[this.dtype].bytes));
  }

  get(index: Expr): Expr {
    return this.#code.let(loadOne(this.dtype, this.#at(index), this.#address));
  }

  set(index: Expr, value: Expr): void {
    storeOne(this.#code, this.dtype, this.#at(index), this.#address, value);
  }

  clear(): void {
    const bytes = sizeOf(this.shape) * elements[this.dtype].bytes;
    this.#code.run([0xfc, 0x0b, 0], i32(this.#address), i32(0), i32(bytes));
  }

  /**
   * An index as a 32-bit number counted from the start; one out of range is beyond every size as an
   * unsigned number.
   */
  index(at: Expr, size: number): Expr {
    const value = this.get(at);
    const narrow = this.dtype === "int64" ? long.wrap(value) : value;
    const i = this.#code.let(narrow);
    return this.#code.let(int.add(i, select(int.lt(i, i32(0)), i32(size), i32(0))));
  }
}
