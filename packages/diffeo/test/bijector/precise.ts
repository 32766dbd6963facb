/**
 * The maps by their definitions, in fixed-point arithmetic with 600 binary digits: an oracle that
 * shares no code with the library. Derivatives are central differences with a step of 2⁻¹⁵⁰,
 * accurate to 90 digits.
 */
const BITS = 600n;
const ONE = 1n << BITS;

/** A fixed-point number: the integer nearest to 2⁶⁰⁰ x. */
type Big = bigint;

/** Exact: a double is an integer over a power of two. */
function big(x: number): Big {
  let [mantissa, power] = [x, 0n];
  for (; !Number.isInteger(mantissa); mantissa *= 2) power++;
  return (BigInt(mantissa) << BITS) >> power;
}
const toNumber = (a: Big): number => Number(a) / 2 ** Number(BITS);

const times = (a: Big, b: Big): Big => (a * b) >> BITS;
const over = (a: Big, b: Big): Big => (a << BITS) / b;
const total = (list: readonly Big[]): Big => list.reduce((s, v) => s + v, 0n);

/** eʳ for |r| < 2⁻⁸ by its series. */
function smallExp(r: Big): Big {
  let [term, sum] = [ONE, ONE];
  for (let k = 1n; term !== 0n; k++) {
    term = times(term, r) / k;
    sum += term;
    if (term === -1n) break;
  }
  return sum;
}
/**
 * Exponentials by their arguments: a difference along one coordinate asks for those of all others
 * again.
 */
const known = new Map<Big, Big>();
function exp(x: Big): Big {
  let value = known.get(x);
  if (value !== undefined) return value;
  // 2¹⁶ halvings of the argument, undone by squaring; 64 more digits would be lost to |x| ≫ 1,
  // which 600 afford.
  value = smallExp(x >> 16n);
  for (let k = 0; k < 16; k++) value = times(value, value);
  known.set(x, value);
  return value;
}
/**
 * Newton's method in its cubic form, w ← w + 2(a − eʷ)/(a + eʷ): of 50 digits it makes 150, 450,
 * all.
 */
function log(a: Big): Big {
  let w = big(Math.log(toNumber(a)));
  for (let k = 0; k < 3; k++) {
    const e = exp(w);
    w += over(2n * (a - e), a + e);
  }
  return w;
}
function sqrt(a: Big): Big {
  const target = a << BITS;
  let root = big(Math.sqrt(toNumber(a)));
  for (let k = 0; k < 8; k++) root = (root + target / root) >> 1n;
  return root;
}
const sigmoid = (x: Big): Big => over(ONE, ONE + exp(-x));

export type PreciseMap = (x: readonly Big[]) => Big[];

const softmax = (x: readonly Big[]): Big[] => {
  const weights = x.map(exp);
  return weights.map((w) => over(w, total(weights)));
};
const norm2 = (x: readonly Big[]): Big => total(x.map((v) => times(v, v)));

/** By the names of the catalogue, with its parameters. */
export const preciseMaps: Readonly<Record<string, PreciseMap>> = {
  expMap: (x) => x.map(exp),
  softplusMap: (x) => x.map((v) => log(ONE + exp(v))),
  sigmoidMap: (x) => x.map((v) => 4n * sigmoid(v) - ONE),
  tanhMap: (x) => x.map((v) => over(exp(v) - exp(-v), exp(v) + exp(-v))),
  additiveLogistic: (x) => softmax([...x, 0n]).slice(0, -1),
  // clr coordinates from the pivot form: balance j sets the mean of the first j against the next.
  isometricLogRatio: (x) => {
    const n = x.length;
    const clr = Array<Big>(n + 1).fill(0n);
    x.forEach((v, k) => {
      const j = BigInt(k + 1);
      const unit = sqrt((j * (j + 1n)) << BITS);
      for (let i = 0; i <= k; i++) clr[i] += over(v, unit);
      clr[k + 1] -= over(j * v, unit);
    });
    return softmax(clr).slice(0, -1);
  },
  stickBreaking: (x) => broken(x.map((v, i) => v - log(BigInt(x.length - i) << BITS))),
  stickBreakingPlain: (x) => broken(x),
  ordered: (x) => {
    let y = x[0];
    return x.map((v, i) => {
      if (i > 0) y += exp(v);
      return y;
    });
  },
  unitBall: (x) => x.map((v) => over(v, sqrt(ONE + norm2(x)))),
  stereographic: (x) => [
    ...x.map((v) => over(2n * v, ONE + norm2(x))),
    over(norm2(x) - ONE, norm2(x) + ONE),
  ],
  logCholesky: (x) => {
    const k = (Math.sqrt(8 * x.length + 1) - 1) / 2;
    const l = (i: number, j: number): Big => {
      const v = x[(i * (i + 1)) / 2 + j];
      return i === j ? exp(v) : v;
    };
    return Array.from({ length: k }, (_, i) =>
      Array.from({ length: i + 1 }, (_, j) =>
        total(Array.from({ length: j + 1 }, (_, r) => times(l(i, r), l(j, r)))),
      ),
    ).flat();
  },
};

function broken(logits: readonly Big[]): Big[] {
  let rest = ONE;
  return logits.map((u) => {
    const share = times(rest, sigmoid(u));
    rest -= share;
    return share;
  });
}

const STEP = 1n << 450n; // 2⁻¹⁵⁰
const WIDE = 1n << 540n; // 2⁻⁶⁰

const along = (x: readonly Big[], d: readonly Big[], h: Big): Big[] =>
  x.map((v, i) => v + times(d[i], h));
const unit = (n: number, k: number): Big[] =>
  Array.from({ length: n }, (_, i) => (i === k ? ONE : 0n));

/** J by columns. */
function columns(f: PreciseMap, x: readonly Big[]): Big[][] {
  return x.map((_, k) => {
    const [up, down] = [STEP, -STEP].map((h) => f(along(x, unit(x.length, k), h)));
    return up.map((v, i) => over(v - down[i], 2n * STEP));
  });
}

/** Solves M z = b by elimination with row pivots, which it also gives: their product is ±det M. */
function eliminate(
  m: readonly (readonly Big[])[],
  b: readonly Big[],
): { readonly z: Big[]; readonly pivots: Big[] } {
  const rows = m.map((row, i) => [...row, b[i]]);
  const n = rows.length;
  const size = (v: Big): Big => (v < 0n ? -v : v);
  for (let c = 0; c < n; c++) {
    let p = c;
    for (let r = c + 1; r < n; r++) if (size(rows[r][c]) > size(rows[p][c])) p = r;
    [rows[c], rows[p]] = [rows[p], rows[c]];
    for (let r = 0; r < n; r++) {
      if (r === c) continue;
      const factor = over(rows[r][c], rows[c][c]);
      rows[r] = rows[r].map((v, j) => v - times(factor, rows[c][j]));
    }
  }
  return {
    z: rows.map((row, i) => over(row[n], row[i])),
    pivots: rows.map((row, i) => size(row[i])),
  };
}

const dotted = (a: readonly Big[], b: readonly Big[]): Big =>
  total(a.map((v, i) => times(v, b[i])));
/** JᵀJ, whose root has the determinant of a square J too. */
const gram = (j: readonly (readonly Big[])[]): Big[][] => j.map((a) => j.map((b) => dotted(a, b)));
const volume = (f: PreciseMap, x: readonly Big[]): Big => {
  const j = columns(f, x);
  const { pivots } = eliminate(
    gram(j),
    j.map(() => 0n),
  );
  return total(pivots.map(log)) / 2n;
};

/** D²f[d, d] */
const bent = (f: PreciseMap, x: readonly Big[], d: readonly Big[]): Big[] => {
  const [up, here, down] = [STEP, 0n, -STEP].map((h) => f(along(x, d, h)));
  return here.map((y, i) => over(over(up[i] - 2n * y + down[i], STEP), STEP));
};
const sums = (list: readonly (readonly Big[])[]): Big[] =>
  list[0].map((_, i) => total(list.map((b) => b[i])));

/**
 * x with f(x) = y, by Newton's method from nearby. On an image thinner than its space, the nearest
 * in it.
 */
function invert(f: PreciseMap, y: readonly Big[], start: readonly Big[], rounds: number): Big[] {
  let x = [...start];
  for (let k = 0; k < rounds; k++) {
    const j = columns(f, x);
    const gap = f(x).map((v, i) => y[i] - v);
    const { z } = eliminate(
      gram(j),
      j.map((column) => dotted(column, gap)),
    );
    x = x.map((v, i) => v + z[i]);
  }
  return x;
}

export interface PreciseProcess {
  /** ∇·(G̃G̃ᵀ) */
  readonly divergence: number[];
  /** f̃ − G̃G̃ᵀs − ∇·(G̃G̃ᵀ) */
  readonly reverseDrift: number[];
}

/**
 * The reverse of φ(X), dX = −½βX dt + √β dW, at a y of 53 binary digits, for the score s(y) = −y:
 * from the definitions, in y. The divergence is by differences of the matrix at neighbours of y.
 */
export function preciseReverse(
  f: PreciseMap,
  at: readonly number[],
  near: readonly number[],
  beta: number,
): PreciseProcess {
  const y = at.map(big);
  const b = big(beta);
  const covariance = (p: readonly Big[], x: readonly Big[]): Big[][] => {
    const j = columns(f, x);
    const entry = (i: number, k: number): Big =>
      times(b, total(j.map((column) => times(column[i], column[k]))));
    return p.map((_, i) => p.map((_, k) => entry(i, k)));
  };
  // From 16 digits each round doubles them, up to the 90 that differences have; a neighbour starts
  // with 45.
  const x = invert(f, y, near.map(big), 6);
  const a = covariance(y, x);
  const divergence = sums(
    y.map((_, k) => {
      const [up, down] = [STEP, -STEP].map((h) => {
        const p = along(y, unit(y.length, k), h);
        return covariance(p, invert(f, p, x, 2));
      });
      return up.map((row, i) => over(row[k] - down[i][k], 2n * STEP));
    }),
  );
  const j = columns(f, x);
  const drift = y.map(
    (_, i) => -times(b, total(j.map((column, k) => times(column[i], x[k])))) / 2n,
  );
  const trace = sums(x.map((_, k) => bent(f, x, unit(x.length, k)))).map((v) => times(b, v) / 2n);
  const reverseDrift = y.map((_, i) => drift[i] + trace[i] + dotted(a[i], y) - divergence[i]);
  return { divergence: divergence.map(toNumber), reverseDrift: reverseDrift.map(toNumber) };
}

/** Everything that the library computes from x, by the names it reports them under. */
export function precise(
  f: PreciseMap,
  point: readonly number[],
  probe: {
    v: readonly number[];
    s: readonly number[];
    w: readonly number[];
    scalar: number;
    matrix: readonly number[];
  },
): Readonly<Record<string, number[]>> {
  const x = point.map(big);
  const [v, s, w] = [probe.v, probe.s, probe.w].map((list) => list.map(big));
  const j = columns(f, x);
  const solve = (b: readonly Big[]): Big[] => eliminate(gram(j), b).z;
  const push = (z: readonly Big[]): Big[] =>
    j[0].map((_, i) => total(j.map((column, k) => times(column[i], z[k]))));
  const pull = (u: readonly Big[]): Big[] => j.map((column) => dotted(column, u));
  const slope = x.map((_, k) => {
    const [up, down] = [WIDE, -WIDE].map((h) => volume(f, along(x, unit(x.length, k), h)));
    return over(up - down, 2n * WIDE);
  });
  const bend = (d: readonly Big[]): Big[] => bent(f, x, d);
  const g = big(probe.scalar);
  const column = (k: number): Big[] => x.map((_, i) => big(probe.matrix[2 * i + k]));
  const scalarTrace = sums(x.map((_, k) => bend(unit(x.length, k)))).map((b) =>
    times(b, times(g, g)),
  );
  const matrixTrace = sums([bend(column(0)), bend(column(1))]);
  const exact: Record<string, Big[]> = {
    "φ(x)": f(x),
    "log|det J|": [volume(f, x)],
    "J v": push(v),
    Jᵀu: pull(w),
    "J⁻¹v": solve(pull(w)),
    "J⁻ᵀu": push(solve(s)),
    "∇ log|det J|": slope,
    "Tr[GᵀHG], scalar G": scalarTrace,
    "Tr[GᵀHG], matrix G": matrixTrace,
    "J⁻¹Tr[GᵀHG], scalar G": solve(pull(scalarTrace)),
    "J⁻¹Tr[GᵀHG], matrix G": solve(pull(matrixTrace)),
    "pushed score": push(solve(s.map((a, i) => a - slope[i]))),
  };
  return Object.fromEntries(
    Object.entries(exact).map(([name, list]) => [name, list.map(toNumber)]),
  );
}
