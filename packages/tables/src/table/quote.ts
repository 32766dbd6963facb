/** Texts that come from files, as errors show them: of bounded length. */

const MOST = 60;
const MOST_NAMES = 20;

/** A text in quotes, its beginning where it is long. */
export const quote = (text: string): string =>
  text.length <= MOST
    ? `"${text}"`
    : `"${text.slice(0, MOST)}…" (${text.length.toLocaleString("en")} characters)`;

/** Names in quotes, the first of them where they are many. */
export const quoteList = (names: readonly string[]): string => {
  const first = names.slice(0, MOST_NAMES).map(quote).join(", ");
  return names.length <= MOST_NAMES
    ? first
    : `${first} and ${(names.length - MOST_NAMES).toLocaleString("en")} more`;
};
