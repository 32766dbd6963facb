/** Names and ticks that fit the space they have. */

/**
 * Shortens a name to a number of letters: the beginning and the end, with the index, stay.
 *
 * @internal
 */
export function shortName(name: string, room: number): string {
  const letters = [...name];
  if (letters.length <= room) return name;
  const index = /\[[^[\]]*\]$/.exec(name)?.[0] ?? "";
  const end =
    [...index].length <= room / 2
      ? Math.max([...index].length, Math.floor(room / 3))
      : Math.floor(room / 2);
  return `${letters.slice(0, room - 1 - end).join("")}…${letters.slice(-end).join("")}`;
}

/**
 * Format of the ticks of an axis over these numbers, with enough digits to distinguish the ticks,
 * and the length of the longest tick.
 *
 * @internal
 */
export function tickMarks(chains: readonly ArrayLike<number>[]): {
  tickFormat: (v: number) => string;
  letters: number;
} {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const chain of chains)
    for (let i = 0; i < chain.length; i++)
      [low, high] = [Math.min(low, chain[i]), Math.max(high, chain[i])];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const step = Math.floor(Math.log10((high - low || size || 1) / 4));
  const whole = Math.floor(Math.log10(size || 1));
  const powers = (whole >= 6 || whole < -3) && whole - step <= 4;
  const tickFormat = (v: number): string => {
    if (v === 0) return "0";
    const text = powers
      ? Number(v.toPrecision(Math.max(1, Math.floor(Math.log10(Math.abs(v))) - step + 1)))
          .toExponential()
          .replace("e+", "e")
      : v.toLocaleString("en", { maximumFractionDigits: Math.min(20, Math.max(0, -step)) });
    return text.replaceAll("-", "−");
  };
  const letters = Math.max(...[low, high, low + 10 ** step].map((v) => tickFormat(v).length));
  return { tickFormat, letters };
}

/** Width of a letter of a tick and of a bold heading, in pixels. */
const TICK = 6.2;
export const BOLD = 7.6;

/** Ticks of an x axis of a given length in pixels. */
export const xTicks = (numbers: readonly ArrayLike<number>[], pixels: number) => {
  const { tickFormat, letters } = tickMarks(numbers);
  return {
    tickFormat,
    ticks: Math.max(2, Math.min(4, Math.floor(pixels / (TICK * letters + 16)))),
  };
};
/** Ticks of a y axis, and the margin that they need. */
export const yTicks = (numbers: readonly ArrayLike<number>[]) => {
  const { tickFormat, letters } = tickMarks(numbers);
  return { tickFormat, ticks: 4, room: Math.max(46, 14 + TICK * letters) };
};
