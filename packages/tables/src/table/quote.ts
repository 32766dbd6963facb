/** Texts from files in errors, with bounded length. */

const MOST = 60;
const MOST_NAMES = 20;

/** A text in quotes, shortened if it is long. */
export const quote = (text: string): string =>
  text.length <= MOST
    ? `"${text}"`
    : `"${text.slice(0, MOST)}…" (${text.length.toLocaleString("en")} characters)`;

/** Names in quotes, only the first ones if there are many. */
export const quoteList = (names: readonly string[]): string => {
  const first = names.slice(0, MOST_NAMES).map(quote).join(", ");
  return names.length <= MOST_NAMES
    ? first
    : `${first} and ${(names.length - MOST_NAMES).toLocaleString("en")} more`;
};
