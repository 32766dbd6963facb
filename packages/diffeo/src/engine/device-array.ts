/// <reference lib="esnext.disposable" preserve="true" />

/**
 * Arrays that stay on the device that made them, such as parameters and moments of a training step,
 * so that they are not transferred. On a device without its own memory they are ordinary arrays,
 * whose memory can be reused.
 */
import { type DType, fail, type NdArray, type Shape } from "../graph/index.ts";

const released = (): never =>
  fail("disposed", "this array is released", "release an array after its last use");

/**
 * An array in a device's memory. It can be passed to compiled functions of the same device;
 * `toHost` reads it.
 */
export class DeviceArray implements NdArray, Disposable {
  readonly shape: Shape;
  readonly dtype: DType;
  /** The device in whose memory it is. */
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
    return fail("usage", "this array is in the memory of its device", "read it with toHost");
  }

  /** Copies the array to the host. */
  read(): Promise<NdArray> {
    return this.#read();
  }

  /** Frees the memory; reading the array afterwards is an error. */
  dispose(): void {
    if (!this.#freed) this.#free();
    this.#freed = true;
  }

  /** Frees the array at the end of a block with `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** Functions that return the memory of ordinary arrays to their owner. */
const giveBack = new WeakMap<NdArray, () => void>();

/** An ordinary array whose memory is passed to `free` when it is released. */
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

/**
 * Returns a host array: the array itself, or a copy if it is in the memory of a device or can be
 * released.
 */
export async function toHost(array: NdArray): Promise<NdArray> {
  if (array instanceof DeviceArray) return array.read();
  return giveBack.has(array) ? { ...array, data: array.data.slice() } : array;
}

/** Frees the memory of a kept array. Neither the array nor its `data` may be read afterwards. */
export function release(array: NdArray): void {
  if (array instanceof DeviceArray) array.dispose();
  else giveBack.get(array)?.();
}
