/// <reference lib="esnext.disposable" preserve="true" />

/**
 * Arrays that stay on the device that made them: parameters and moments of a training step, fed
 * back without crossing the bus. On a device without memory of its own, what is kept is an ordinary
 * array, whose memory may serve again.
 */
import { type DType, fail, type NdArray, type Shape } from "../graph/index.ts";

const released = (): never =>
  fail("disposed", "this array was released", "release an array after its last use");

/**
 * An array in a device's memory. It can be passed to compiled functions of the same device;
 * `toHost` reads it.
 */
export class DeviceArray implements NdArray, Disposable {
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
    if (this.#freed) released();
    return this.#handle;
  }

  get data(): never {
    return fail("usage", "this array was kept on its device", "read it with toHost");
  }

  /** Its numbers as an ordinary array. */
  read(): Promise<NdArray> {
    return this.#read();
  }

  /** Frees the memory; reading the array afterwards is an error. */
  dispose(): void {
    if (!this.#freed) this.#free();
    this.#freed = true;
  }

  /** Frees the array at the end of a block that holds it with `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** How the memory of an ordinary array goes back to whoever made it. */
const giveBack = new WeakMap<NdArray, () => void>();

/** An ordinary array whose memory `free` gets when it is released. */
export function reusable(
  shape: Shape,
  data: Float32Array,
  free: (data: Float32Array) => void,
): NdArray {
  let own: Float32Array | undefined = data;
  const array: NdArray = {
    shape,
    dtype: "float32",
    get data() {
      return own ?? released();
    },
  };
  giveBack.set(array, () => {
    if (own) free(own);
    own = undefined;
  });
  return array;
}

/** The array itself, or a copy of one that a device or a later release would take away. */
export async function toHost(array: NdArray): Promise<NdArray> {
  if (array instanceof DeviceArray) return array.read();
  return giveBack.has(array) ? { ...array, data: array.data.slice() } : array;
}

/**
 * Frees the memory of an array that was kept: it must not be read afterwards, nor its numbers where
 * they were taken out of it.
 */
export function release(array: NdArray): void {
  if (array instanceof DeviceArray) array.dispose();
  else giveBack.get(array)?.();
}
