/**
 * The shuffle of NumPy's legacy generator, for the same splits as in earlier studies:
 * `numpy.random.RandomState(seed).permutation(n)`, with Mersenne Twister MT19937 and the
 * Fisher–Yates shuffle from the end.
 */

const N = 624;
const M = 397;

/**
 * 32-bit words of MT19937, seeded by one number (M. Matsumoto and T. Nishimura, 1998;
 * initialisation of 2002).
 */
function* mersenne(seed: number): Generator<number, never> {
  const state = new Uint32Array(N);
  state[0] = seed;
  for (let i = 1; i < N; i++)
    state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
  for (;;) {
    for (let i = 0; i < N; i++) {
      const y = (state[i] & 0x80000000) | (state[(i + 1) % N] & 0x7fffffff);
      state[i] = state[(i + M) % N] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    for (let i = 0; i < N; i++) {
      let y = state[i];
      y ^= y >>> 11;
      y ^= (y << 7) & 0x9d2c5680;
      y ^= (y << 15) & 0xefc60000;
      yield (y ^ (y >>> 18)) >>> 0;
    }
  }
}

/**
 * 0 … n − 1 in NumPy's order. A position up to i is sampled by masking words to the bits of i until
 * one is at most i.
 */
export function legacyPermutation(seed: number, n: number): Int32Array {
  const words = mersenne(seed >>> 0);
  const order = Int32Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const mask = 2 ** (32 - Math.clz32(i)) - 1;
    let j = words.next().value & mask;
    while (j > i) j = words.next().value & mask;
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
