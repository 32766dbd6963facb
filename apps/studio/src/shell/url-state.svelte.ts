/**
 * Keeps a page's settings in its address, so that a link reproduces them:
 *
 *     const settings = urlState({
 *       seed: integer(7, 0, 1e9),
 *       w: real(1, 0.9, 1.1),
 *       method: oneOf(["heun", "milstein"]),
 *       fen: text(""),
 *     });
 *
 * Read and set `settings.w` like a variable. The address leaves out defaults. An invalid value in
 * an address counts as the default, so that old links still open.
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

/** An integer between bounds. */
export const integer = (initial: number, least: number, most: number): Field<number> =>
  numeric(initial, least, most, Number.isInteger);

/** One of several words, by default the first. */
export const oneOf = <const T extends string>(
  words: readonly T[],
  initial: T = words[0],
): Field<T> => ({
  initial,
  parse: (text) => words.find((word) => word === text),
  format: (word) => word,
});

/** Any text that passes a test. */
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
 * Milliseconds without a change before the address is updated: browsers limit how often a page may.
 */
const REST = 150;

/** The settings of a page. Call it while the page's component initialises. */
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
