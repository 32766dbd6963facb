/** Options of a benchmark's command line with text values, by their defaults. */
export const textOptions = <Name extends string>(
  defaults: Readonly<Record<Name, string>>,
): Record<Name, { readonly type: "string"; readonly default: string }> =>
  Object.fromEntries(
    Object.entries<string>(defaults).map(([name, text]) => [
      name,
      { type: "string", default: text },
    ]),
  ) as ReturnType<typeof textOptions<Name>>;
