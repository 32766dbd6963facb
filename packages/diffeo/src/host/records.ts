/** Values by name. */

/** The same names with f of their values. */
export const mapValues = <A, B>(
  record: Readonly<Record<string, A>>,
  f: (value: A, name: string) => B,
): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, f(value, name)]));
