/** Allocates buffers: two that are never used at the same time may share memory. */
import { aligned } from "./module.ts";
import type { Buffer } from "./plan.ts";

/**
 * Gives every buffer an address from `start` on, the largest first; returns the end of the memory.
 */
export function layOut(buffers: readonly Buffer[], start: number): number {
  const placed: Buffer[] = [];
  let end = start;
  const order = [...buffers].sort((a, b) => b.bytes - a.bytes || a.first - b.first);
  for (const buffer of order) {
    const others = placed
      .filter((b) => b.kept || buffer.kept || (b.first <= buffer.last && buffer.first <= b.last))
      .sort((a, b) => a.address - b.address);
    let address = start;
    for (const other of others) {
      if (address + buffer.bytes <= other.address) break;
      address = Math.max(address, aligned(other.address + other.bytes));
    }
    buffer.address = address;
    placed.push(buffer);
    end = Math.max(end, aligned(address + buffer.bytes));
  }
  return end;
}
