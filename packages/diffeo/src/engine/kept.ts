/**
 * Arrays that stay on the device that made them: parameters and moments of a training step, fed back without crossing
 * the bus. On a device without memory of its own, what is kept is an ordinary array.
 */
import { type DType, fail, type NdArray, type Shape } from "../graph/index.ts";

/** An array in a device's memory. It can be passed to compiled functions of the same device; `toHost` reads it. */
export class KeptArray implements NdArray {
  readonly shape: Shape;
  readonly dtype: DType;
  /** The device that holds it. */
  readonly device: string;
  readonly #handle: unknown;
  readonly #read: () => Promise<NdArray>;
  readonly #free: () => void;
  #freed = false;

  constructor(
    shape: Shape,
    dtype: DType,
    device: string,
    handle: unknown,
    read: () => Promise<NdArray>,
    free: () => void,
  ) {
    this.shape = shape;
    this.dtype = dtype;
    this.device = device;
    this.#handle = handle;
    this.#read = read;
    this.#free = free;
  }

  /** The runtime's own handle. */
  get handle(): unknown {
    if (this.#freed) fail("disposed", "this array was released", "release an array after its last use");
    return this.#handle;
  }

  get data(): never {
    return fail("usage", "this array was kept on its device", "read it with toHost");
  }

  read(): Promise<NdArray> {
    return this.#read();
  }

  dispose(): void {
    if (!this.#freed) this.#free();
    this.#freed = true;
  }
}

/** The array itself, or a copy of one that was kept on a device. */
export const toHost = async (array: NdArray): Promise<NdArray> => (array instanceof KeptArray ? array.read() : array);

/** Frees the device's memory of an array that was kept there. */
export function release(array: NdArray): void {
  if (array instanceof KeptArray) array.dispose();
}
