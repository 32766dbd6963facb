/**
 * Domains of single numbers:
 *
 *   real       y = x
 *   positive   y = a + eˣ or a + log(1 + eˣ), and b − … below a bound
 *   between    y = a + (b − a)σ(x)
 *   integer    k = ⌊y⌋, y uniform on [k, k + 1), so that P(k) = ∫ q over that interval
 */
import { affine, chain, expMap, identity, sigmoidMap, softplusMap } from "../bijector/index.ts";
import { fail } from "../graph/index.ts";
import {
  type Cell,
  type Domain,
  domain,
  numberFault,
  requireCount,
  requireInterval,
  within,
} from "./domain.ts";
import { type RecordedOptions, recordedNumber, requireRecorded } from "./recorded.ts";
import { type PositiveMap, positiveMaps } from "./spec.ts";

/** The domain of all real numbers, or of vectors of `size` numbers. */
export function real(size = 1, recorded: RecordedOptions = {}): Domain {
  requireCount(size, 1, "real: size");
  requireRecorded(recorded, "real");
  const written = recordedNumber(recorded);
  return domain({
    kind: "real",
    spec: { kind: "real", ...(size !== 1 && { size }), ...copied(recorded) },
    map: identity(),
    dimension: size,
    fault: () => undefined,
    decode: (y) => Array.from(y, written),
  });
}

/** The options in the form of a spec. */
const copied = <T extends RecordedOptions>({
  range,
  ...rest
}: T): Omit<T, "range"> & {
  range?: number[];
} => ({ ...rest, ...(range && { range: [...range] }) });

/** Options of `positive`: a bound, and the map. */
export interface PositiveOptions extends RecordedOptions {
  /** The lower bound. Default 0, unless `below` is given. */
  readonly above?: number;
  /** The upper bound, for numbers below it. */
  readonly below?: number;
  /** `exp` (default), or `softplus`, which is linear for large x. */
  readonly map?: PositiveMap;
}

/** The domain of numbers above a bound (0 by default), or below one. */
export function positive(options: PositiveOptions = {}): Domain {
  const { below, map = "exp" } = options;
  if (below !== undefined && options.above !== undefined)
    fail(
      "usage",
      "positive: both `above` and `below` are given",
      "use between for numbers with two bounds",
    );
  if (!positiveMaps.includes(map))
    fail("usage", `positive: unknown \`map\` "${map}"`, `use one of ${positiveMaps.join(", ")}`);
  const bound = below ?? options.above ?? 0;
  if (!Number.isFinite(bound))
    fail("usage", `positive: the bound is ${bound}`, "give a finite number, or use real");
  requireRecorded(options, "positive");
  const sign = below === undefined ? 1 : -1;
  const [low, high] =
    sign === 1 ? [bound, Number.POSITIVE_INFINITY] : [Number.NEGATIVE_INFINITY, bound];
  const written = recordedNumber(options, low, high);
  const grown = map === "exp" ? expMap() : softplusMap();
  const inside = (y: number): boolean => sign * (y - bound) > 0;
  return domain({
    kind: "positive",
    spec: { kind: "positive", ...copied(options) },
    map: bound === 0 && sign === 1 ? grown : chain(grown, affine({ scale: sign, shift: bound })),
    dimension: 1,
    fault: ([y]) =>
      inside(y)
        ? undefined
        : boundFault(y, [bound], `not ${sign === 1 ? "above" : "below"} ${bound}`),
    decode: (y) => [written(within(y[0], low, high))],
  });
}

/** Describes a value outside the domain; values on a bound are described as such. */
const boundFault = (y: number, bounds: readonly number[], what: string): string =>
  bounds.includes(y) ? `${y} is the bound, which is not in the domain` : `${y} is ${what}`;

/** The domain of numbers strictly between two bounds. */
export function between(low: number, high: number, recorded: RecordedOptions = {}): Domain {
  requireInterval(low, high, "between");
  requireRecorded(recorded, "between");
  const written = recordedNumber(recorded, low, high);
  return domain({
    kind: "between",
    spec: { kind: "between", low, high, ...copied(recorded) },
    map: sigmoidMap(low, high),
    dimension: 1,
    fault: ([y]) =>
      y > low && y < high
        ? undefined
        : boundFault(y, [low, high], `not between ${low} and ${high}`),
    decode: (y) => [written(within(y[0], low, high))],
  });
}

/** Options of `integer`: inclusive bounds. Default none. */
export interface IntegerOptions extends RecordedOptions {
  readonly least?: number;
  readonly most?: number;
}

/** The domain of the numbers y that represent integers, each spread over [k, k + 1). */
function spread({ least, most }: IntegerOptions): Domain {
  if (least !== undefined && most !== undefined) return between(least, most + 1);
  if (least !== undefined) return positive({ above: least });
  return most !== undefined ? positive({ below: most + 1 }) : real();
}

/** The domain of integers, with inclusive bounds. */
export function integer(options: IntegerOptions = {}): Domain {
  const { least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER } = options;
  for (const [name, bound] of Object.entries({ least, most }))
    if (!Number.isSafeInteger(bound))
      fail("usage", `integer: ${name} is ${bound}`, "give an integer, or leave it out");
  if (least > most)
    fail("usage", `integer: \`least\` is ${least}, \`most\` is ${most}`, "give least ≤ most");
  requireRecorded(options, "integer");
  const under = spread(options);
  const written = recordedNumber(options, least - 1, most + 1);
  return domain({
    kind: "integer",
    spec: { kind: "integer", ...copied(options) },
    map: under.map,
    dimension: 1,
    noise: 1,
    fault: () => undefined,
    faultOfCells: ([k]: readonly Cell[]) =>
      numberFault(k) ??
      (Number.isSafeInteger(k) ? undefined : `${k} is not an integer`) ??
      ((k as number) < least ? `${k} is less than ${least}` : undefined) ??
      ((k as number) > most ? `${k} is more than ${most}` : undefined),
    // The sum of a large number and a fraction may round to the next integer.
    encode: ([k], u) => [within((k as number) + u[0], k as number, (k as number) + 1)],
    decode: (y) => [written(Math.min(most, Math.max(least, Math.floor(y[0]))))],
  });
}

/** The domain of counts 0, 1, 2, …. */
export const count = (): Domain => integer({ least: 0 });
