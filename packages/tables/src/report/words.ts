/** Numbers as text in reports. */
const WIDTH = 24;
export const line = (label: string, text: string): string => `${label.padEnd(WIDTH)}${text}`;
export const whole = (count: number): string => count.toLocaleString("en");
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
/** A number that may be unknown. */
export const fixed = (value: number, digits: number): string =>
  Number.isFinite(value) ? value.toFixed(digits) : "–";
