/** Parts of the HTML of reports. */
import { escapeText, inPage } from "diffeo-picture";
import type { Mean } from "../measure/mean.ts";
import { fixed } from "./words.ts";

export type Html = string;

const cell = (content: string, kind = "td"): Html => `<${kind}>${escapeText(content)}</${kind}>`;

export function table(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  marked: (row: number) => boolean = () => false,
): Html {
  const head = `<tr>${heading.map((text) => cell(text, "th")).join("")}</tr>`;
  const body = rows.map(
    (row, i) =>
      `<tr${marked(i) ? ' class="bad"' : ""}>${row.map((text) => cell(text)).join("")}</tr>`,
  );
  return (
    "<div " +
    `class="wide"><table><thead>${head}</thead><tbody>${body.join("")}</tbody></table></div>`
  );
}

export const section = (title: string, ...content: readonly Html[]): Html =>
  `<section><h2>${escapeText(title)}</h2>${content.join("")}</section>`;

export const paragraph = (text: string): Html => `<p>${escapeText(text)}</p>`;
export const figure = (svg: string): Html => `<figure>${inPage(svg.trimEnd())}</figure>`;
export const plusMinus = ({ mean, error }: Mean): string =>
  `${fixed(mean, 3)} ± ${fixed(error, 3)}`;
