/**
 * Common formats of dates, as days since 1970-01-01. A format is a text with these tokens:
 *
 *   YYYY YY   MMMM MMM MM M   DD D   HH H hh h   mm ss   S (a fraction of a second)   A (AM or PM)
 *
 * Everything else stands for itself, including a time zone: times are local to the clock that wrote
 * them.
 */

const MONTHS = [
  ...["January", "February", "March", "April", "May", "June", "July"],
  ...["August", "September", "October", "November", "December"],
];
const short = (name: string): string => name.slice(0, 3);

const WORDS = /YYYY|YY|MMMM|MMM|MM|M|DD|D|HH|H|hh|h|mm|ss|S+|A/g;

const patterns: Readonly<Record<string, string>> = {
  YYYY: "(\\d{4})",
  YY: "(\\d{2})",
  MMMM: `(${MONTHS.join("|")})`,
  MMM: `(${MONTHS.map(short).join("|")})`,
  MM: "(\\d{2})",
  M: "(\\d{1,2})",
  DD: "(\\d{2})",
  D: "(\\d{1,2})",
  HH: "(\\d{2})",
  H: "(\\d{1,2})",
  hh: "(\\d{2})",
  h: "(\\d{1,2})",
  mm: "(\\d{2})",
  ss: "(\\d{2})",
  A: "(AM|PM)",
};

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * A format as a regular expression, and its tokens in order. Text in brackets stands for itself.
 */
function compiled(format: string): { readonly regexp: RegExp; readonly words: readonly string[] } {
  const words: string[] = [];
  let [text, at] = ["", 0];
  for (const { 0: word, index } of format.matchAll(WORDS)) {
    text += escaped(format.slice(at, index)) + (patterns[word] ?? `(\\d{${word.length}})`);
    words.push(word);
    at = index + word.length;
  }
  return { regexp: new RegExp(`^${text}${escaped(format.slice(at))}$`, "i"), words };
}

const known = new Map<string, ReturnType<typeof compiled>>();
function formatOf(format: string): ReturnType<typeof compiled> {
  const found = known.get(format) ?? compiled(format);
  known.set(format, found);
  return found;
}

/** Two-digit years are 1970 to 2069. */
const fullYear = (year: number): number => (year < 70 ? 2000 + year : 1900 + year);

/** Days since 1970-01-01 of a text in a format; undefined if it does not match. */
export function parseDate(text: string, format: string): number | undefined {
  const { regexp, words } = formatOf(format);
  const found = regexp.exec(text.trim());
  if (!found) return undefined;
  let [year, month, day, hour, minute, second] = [1970, 1, 1, 0, 0, 0];
  let half: string | undefined;
  words.forEach((word, i) => {
    const own = found[i + 1];
    const value = Number(own);
    if (word === "YYYY") year = value;
    else if (word === "YY") year = fullYear(value);
    else if (word === "MMM" || word === "MMMM")
      month =
        1 + MONTHS.findIndex((name) => short(name).toLowerCase() === short(own).toLowerCase());
    else if (word.startsWith("M")) month = value;
    else if (word.startsWith("D")) day = value;
    else if (/^h+$/i.test(word)) hour = value;
    else if (word === "mm") minute = value;
    else if (word === "ss") second += value;
    else if (word === "A") half = own.toUpperCase();
    else second += Number(`0.${own}`);
  });
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (half === "PM" ? 12 : 0);
  }
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, day);
  const isDate = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === day;
  if (!isDate || hour > 23 || minute > 59 || second >= 60) return undefined;
  return midnight.getTime() / 86_400_000 + (hour * 3600 + minute * 60 + second) / 86_400;
}

const padded = (value: number, width: number): string => String(value).padStart(width, "0");

/** A date in a format. */
export function formatDate(value: number, format: string): string {
  const time = new Date(Math.round(value * 86_400_000));
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  const hour = time.getUTCHours();
  const texts: Readonly<Record<string, string>> = {
    YYYY: padded(year, 4),
    YY: padded(year % 100, 2),
    MMMM: MONTHS[month],
    MMM: short(MONTHS[month]),
    MM: padded(month + 1, 2),
    M: String(month + 1),
    DD: padded(day, 2),
    D: String(day),
    HH: padded(hour, 2),
    H: String(hour),
    hh: padded(hour % 12 || 12, 2),
    h: String(hour % 12 || 12),
    mm: padded(time.getUTCMinutes(), 2),
    ss: padded(time.getUTCSeconds(), 2),
    A: hour < 12 ? "AM" : "PM",
  };
  const fraction = padded(time.getUTCMilliseconds(), 3);
  return format.replace(
    WORDS,
    (word) => texts[word] ?? fraction.padEnd(word.length, "0").slice(0, word.length),
  );
}

/** Possible formats of a date, those with leading zeros first. */
function dateFormats(text: string): string[] {
  const joined = (parts: readonly string[], by: string): string => parts.join(by);
  const numeric = /^(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})$/.exec(text);
  if (numeric) {
    const [, first, by, , last] = numeric;
    if (first.length === 4)
      return [joined(["YYYY", "MM", "DD"], by), joined(["YYYY", "M", "D"], by)];
    const year = last.length === 4 ? "YYYY" : "YY";
    if (last.length === 3 || last.length === 1) return [];
    const orders = by === "/" ? ["M D", "D M"] : ["D M", "M D"];
    return orders.flatMap((order) => {
      const [a, b] = order.split(" ");
      return [joined([a + a, b + b, year], by), joined([a, b, year], by)];
    });
  }
  const month = /^([A-Za-z]{3,9}) (\d{1,2})(,?) (\d{4})$/.exec(text);
  if (month) {
    const named = month[1].length === 3 ? ["MMM", "MMMM"] : ["MMMM"];
    return named.flatMap((name) => ["DD", "D"].map((day) => `${name} ${day}${month[3]} YYYY`));
  }
  const day = /^(\d{1,2})([- ])([A-Za-z]{3,9})\2(\d{4}|\d{2})$/.exec(text);
  if (!day) return [];
  const year = day[4].length === 4 ? "YYYY" : "YY";
  const named = day[3].length === 3 ? ["MMM", "MMMM"] : ["MMMM"];
  return named.flatMap((name) => ["DD", "D"].map((first) => [first, name, year].join(day[2])));
}

/** Possible formats of a time of day. */
function timeFormats(text: string): string[] {
  const found =
    /^(\d{1,2}):\d{2}(:\d{2}(\.(\d+))?)?( ?)([AaPp][Mm])?(Z|[+-]\d{2}:?\d{2}| UTC| GMT)?$/.exec(
      text,
    );
  if (!found) return [];
  const [, , seconds, fraction, digits, gap, half, zone = ""] = found;
  const rest = `:mm${seconds ? ":ss" : ""}${fraction ? `.${"S".repeat(digits.length)}` : ""}`;
  if (half) return ["hh", "h"].map((hour) => `${hour}${rest}${gap}A${zone}`);
  return ["HH", "H"].map((hour) => `${hour}${rest}${gap}${zone}`);
}

/** Possible formats of a text as a date. */
export function formatsOf(text: string): string[] {
  const [, date, between = "", time] =
    /^(.+?)(?:([T ])(\d{1,2}:\d{2}.*))?$/.exec(text.trim()) ?? [];
  if (date === undefined || date.length > 30) return [];
  const dates = dateFormats(date);
  if (time === undefined) return dates;
  return dates.flatMap((one) => timeFormats(time).map((other) => `${one}${between}${other}`));
}
