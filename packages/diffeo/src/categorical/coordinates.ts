/**
 * Maps from n free numbers to the simplex of n + 1 classes, for categorical encodings: the bijector
 * for graphs, and the same on the host, between the numbers l of a site and its log-ratios
 * r_k = log y_k − log y_n to the last class.
 *
 *   additiveLogistic     r = l
 *   isometricLogRatio    r_k = (V l)_k − (V l)_n,  l = Vᵀ(r, 0)      V Helmert's, n + 1 rows of n
 *   stickBreaking        rᵢ = uᵢ − Σⱼ>ᵢ log(1 − σ(uⱼ)),  uᵢ = lᵢ − log(n − i),  i from 0
 *
 * Under the additive logistic map the code point of the last class is farther from the others than
 * they are from each other. Under stick-breaking all distances differ. Under the isometric
 * log-ratio all distances are equal, so that isotropic noise treats all classes alike.
 */
import {
  additiveLogistic,
  type Bijector,
  isometricLogRatio,
  stickBreaking,
} from "../bijector/index.ts";
import { helmertEntry } from "../bijector/isometric-log-ratio.ts";
import { fail } from "../graph/index.ts";

interface Coordinates {
  /** l of log-ratios r, n numbers. */
  readonly inverse: (r: readonly number[]) => number[];
  /** r of l. */
  readonly forward: (l: readonly number[]) => number[];
}

interface Row {
  readonly bijector: () => Bijector;
  readonly coordinates: (n: number) => Coordinates;
}

/** log(eᵃ + eᵇ) */
const logAdd = (a: number, b: number): number =>
  Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));

export const simplexMaps = {
  additiveLogistic: {
    bijector: additiveLogistic,
    coordinates: () => ({ inverse: (r) => [...r], forward: (l) => [...l] }),
  },
  isometricLogRatio: {
    bijector: isometricLogRatio,
    // Sums of few terms: a code has one log-ratio that is not 0, and (V l)_i is the sum of
    // l_k/√(j(j + 1)) over k ≥ i, plus one entry of its own.
    coordinates: (n) => ({
      inverse: (r) => {
        const held = [...r.keys()].filter((i) => r[i] !== 0);
        return Array.from({ length: n }, (_, k) =>
          held.reduce((sum, i) => sum + helmertEntry(i, k) * r[i], 0),
        );
      },
      forward: (l) => {
        const out = new Array<number>(n);
        const own = (i: number): number => (i > 0 ? helmertEntry(i, i - 1) * l[i - 1] : 0);
        for (let i = n - 1, rest = 0; i >= 0; i--) {
          rest += helmertEntry(0, i) * l[i];
          out[i] = rest + own(i) - own(n);
        }
        return out;
      },
    }),
  },
  stickBreaking: {
    bijector: stickBreaking,
    // The rest of the stick after class i, divided by the share of the last class, is
    // 1 + Σⱼ>ᵢ e^{rⱼ}.
    coordinates: (n) => ({
      inverse: (r) => {
        const out = new Array<number>(n);
        for (let i = n - 1, rest = 0; i >= 0; i--) {
          out[i] = r[i] - rest + Math.log(n - i);
          rest = logAdd(rest, r[i]);
        }
        return out;
      },
      forward: (l) => {
        const out = new Array<number>(n);
        for (let i = n - 1, rest = 0; i >= 0; i--) {
          out[i] = l[i] - Math.log(n - i) + rest;
          rest = logAdd(rest, out[i]);
        }
        return out;
      },
    }),
  },
} as const satisfies Readonly<Record<string, Row>>;

/** The name of a map from free numbers to the simplex of classes. */
export type SimplexMap = keyof typeof simplexMaps;

/** The map with the given name. */
export function simplexMapOf(name: SimplexMap): Row {
  if (!Object.hasOwn(simplexMaps, name))
    fail(
      "usage",
      `unknown \`map\` "${name}" to a simplex`,
      `use one of ${Object.keys(simplexMaps).join(", ")}`,
    );
  return simplexMaps[name];
}
