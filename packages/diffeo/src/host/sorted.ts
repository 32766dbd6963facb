/** The bits of a digit; each half of a number has three digits. */
const DIGIT = 11;

/**
 * Sorts numbers stably, and returns their order. It is a radix sort from the last digit, which
 * takes a third of the time of sorting the numbers and finding their positions.
 */
export function sortedWithOrder(x: Float64Array): {
  readonly sorted: Float64Array;
  readonly order: Uint32Array;
} {
  const bits = new Uint32Array(x.buffer, x.byteOffset, 2 * x.length);
  const [low, high] = [new Uint32Array(x.length), new Uint32Array(x.length)];
  let order: Uint32Array = new Uint32Array(x.length);
  // The bits of positive numbers, as integers, are in the order of the numbers; those of negative
  // numbers are inverted and come first.
  for (let i = 0; i < x.length; i++) {
    const negative = bits[2 * i + 1] >>> 31;
    low[i] = bits[2 * i] ^ -negative;
    high[i] = bits[2 * i + 1] ^ (-negative | 0x80000000);
    order[i] = i;
  }
  for (const half of [low, high])
    for (let shift = 0; shift < 32; shift += DIGIT) order = orderedByDigit(order, half, shift);
  const sorted = new Float64Array(x.length);
  for (let k = 0; k < x.length; k++) sorted[k] = x[order[k]];
  return { sorted, order };
}

/** Sorts an order stably by one digit of the numbers. */
function orderedByDigit(order: Uint32Array, of: Uint32Array, shift: number): Uint32Array {
  const mask = 2 ** DIGIT - 1;
  const places = new Uint32Array(mask + 1);
  for (let i = 0; i < of.length; i++) places[(of[i] >>> shift) & mask]++;
  for (let digit = 0, before = 0; digit <= mask; digit++) {
    before += places[digit];
    places[digit] = before - places[digit];
  }
  const next = new Uint32Array(order.length);
  for (let k = 0; k < order.length; k++) next[places[(of[order[k]] >>> shift) & mask]++] = order[k];
  return next;
}
