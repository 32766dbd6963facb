/**
 * A page's state in its address, so that a link shows what its sender saw:
 *
 *     const settings = urlState({ seed: whole(7, 0, 1e9), w: real(1, 0.9, 1.1), method: oneOf(["heun", "milstein"]), fen: text("") });
 *
 * `settings.w` is read and set like a variable. What is at its default is not written. What an
 * address says that is no value is taken as the default: an old link still opens.
 */
import { place, replaceQuery } from "./route.svelte.ts";

export interface Field<T> {
  readonly initial: T;
  readonly parse: (text: string) => T | undefined;
  readonly format: (value: T) => string;
}

const numeric = (
  initial: number,
  least: number,
  most: number,
  fits: (value: number) => boolean,
): Field<number> => ({
  initial,
  parse: (text) => {
    const value = Number(text);
    return text.trim() !== "" && value >= least && value <= most && fits(value) ? value : undefined;
  },
  format: String,
});

/** A number between bounds. */
export const real = (initial: number, least: number, most: number): Field<number> =>
  numeric(initial, least, most, Number.isFinite);

/** A whole number between bounds. */
export const whole = (initial: number, least: number, most: number): Field<number> =>
  numeric(initial, least, most, Number.isInteger);

/** One of some words, the first of them by default. */
export const oneOf = <const T extends string>(
  words: readonly T[],
  initial: T = words[0],
): Field<T> => ({
  initial,
  parse: (text) => words.find((word) => word === text),
  format: (word) => word,
});

/** Any text that a test lets through. */
export const text = (
  initial: string,
  fits: (value: string) => boolean = () => true,
): Field<string> => ({
  initial,
  parse: (value) => (fits(value) ? value : undefined),
  format: (value) => value,
});

interface AnyField extends Omit<Field<unknown>, "format"> {
  readonly format: (value: never) => string;
}
type Fields = Readonly<Record<string, AnyField>>;
type Values<F extends Fields> = {
  -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never;
};

function valuesIn<F extends Fields>(fields: F, query: string): Values<F> {
  const words = new URLSearchParams(query);
  const entries = Object.entries(fields).map(([name, { initial, parse }]) => {
    const word = words.get(name);
    return [name, (word === null ? undefined : parse(word)) ?? initial];
  });
  return Object.fromEntries(entries) as Values<F>;
}

function queryOf<F extends Fields>(fields: F, values: Values<F>): string {
  const words = new URLSearchParams();
  for (const [name, { initial, format }] of Object.entries(fields))
    if (values[name] !== initial) words.set(name, format(values[name] as never));
  return words.toString();
}

/**
 * How long a slider rests before the address follows: browsers refuse pages that write there too
 * often.
 */
const REST = 150;

/** The state of the page whose component calls this while it is made. */
export function urlState<F extends Fields>(fields: F): Values<F> {
  const values = $state(valuesIn(fields, place().query));
  let written = place().query;
  $effect(() => {
    const query = queryOf(fields, values);
    if (query === written) return;
    const timer = setTimeout(() => {
      written = query;
      replaceQuery(query);
    }, REST);
    return () => clearTimeout(timer);
  });
  $effect(() => {
    const { query } = place();
    if (query === written) return;
    written = query;
    Object.assign(values, valuesIn(fields, query));
  });
  return values;
}
