import { describe, expect, it } from "vitest";
import { threefry } from "../../src/random/threefry.ts";

const words = (hex: string): number[] => hex.split(" ").map((word) => Number.parseInt(word, 16));

function block(counter: readonly number[], key: readonly number[]): number[] {
  const out = new Uint32Array(4);
  const [c0, c1, c2, c3] = counter;
  threefry(out, 0, Uint32Array.from(key), 0, c0, c1, c2, c3, 1);
  return Array.from(out);
}

// Random123, tests/kat_vectors, the three lines of "threefry4x32 20": counter, key, result. The
// third holds digits of π.
const KNOWN_ANSWERS = [
  {
    counter: "00000000 00000000 00000000 00000000",
    key: "00000000 00000000 00000000 00000000",
    result: "9c6ca96a e17eae66 fc10ecd4 5256a7d8",
  },
  {
    counter: "ffffffff ffffffff ffffffff ffffffff",
    key: "ffffffff ffffffff ffffffff ffffffff",
    result: "2a881696 57012287 f6c7446e a16a6732",
  },
  {
    counter: "243f6a88 85a308d3 13198a2e 03707344",
    key: "a4093822 299f31d0 082efa98 ec4e6c89",
    result: "59cd1dbb b8879579 86b5d00c ac8b6d84",
  },
];

describe("Threefry-4×32-20", () => {
  it.each(KNOWN_ANSWERS)(
    "gives the published answer for counter $counter",
    ({ counter, key, result }) => {
      expect(block(words(counter), words(key))).toEqual(words(result));
    },
  );

  it("makes many blocks as it makes one, and reads and writes at the given offsets", () => {
    const keys = Uint32Array.of(9, 9, 9, 9, 1, 2, 3, 4);
    const out = new Uint32Array(16);
    threefry(out, 4, keys, 4, 0xffffffff, 5, 6, 7, 2);
    const expected = [0xffffffff, 0].flatMap((c0) => block([c0, 5, 6, 7], [1, 2, 3, 4]));
    expect(Array.from(out)).toEqual([0, 0, 0, 0, ...expected, 0, 0, 0, 0]);
  });

  it("may overwrite its key", () => {
    const keys = Uint32Array.of(1, 2, 3, 4);
    threefry(keys, 0, keys, 0, 5, 6, 7, 8, 1);
    expect(Array.from(keys)).toEqual(block([5, 6, 7, 8], [1, 2, 3, 4]));
  });
});
