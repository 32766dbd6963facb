/**
 * CRC-32, the checksum of zip, gzip and PNG: the remainder of a file's bits, as a polynomial over
 * GF(2), after division by
 *
 *   x³² + x²⁶ + x²³ + x²² + x¹⁶ + x¹² + x¹¹ + x¹⁰ + x⁸ + x⁷ + x⁵ + x⁴ + x² + x + 1.
 *
 * It detects every change within 32 consecutive bits, and all but one in 2³² of the others.
 */

/** The polynomial without its leading term, its lowest power in the highest bit. */
const POLYNOMIAL = 0xedb88320;

/** The result of eight steps of the division for a byte at the end of the register. */
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1;
  return rest;
});

/** The CRC-32 of consecutive parts. */
export function crc32(parts: Iterable<Uint8Array>): number {
  let rest = 0xffffffff;
  for (const part of parts)
    for (let i = 0; i < part.length; i++) rest = (rest >>> 8) ^ table[(rest ^ part[i]) & 0xff];
  return ~rest >>> 0;
}

/** The format of a checksum in files, and its placeholder while it is computed. */
export const checksumPattern = /^crc32:[0-9a-f]{8}$/;
export const checksumBlank = "crc32:00000000";

export const checksumText = (parts: Iterable<Uint8Array>): string =>
  `crc32:${crc32(parts).toString(16).padStart(8, "0")}`;
