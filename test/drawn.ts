/** Reads figures: the positions of marks in the units of their axes. */

export interface Drawn {
  /** Its position in the figure. */
  readonly place: readonly [x: number, y: number];
  /** The position of each tick label of an axis. */
  readonly ticks: Readonly<Record<"x" | "y", ReadonlyMap<string, number>>>;
  /** The value of an axis at a pixel. */
  readonly read: (axis: "x" | "y", pixel: number) => number;
  /**
   * The elements of marks of one kind ("line", "dot"), one list per mark, each with the colour of
   * its mark.
   */
  readonly marks: (kind: string) => readonly (readonly Element[])[];
  readonly text: string;
}

interface Element {
  readonly colour: string;
  readonly attribute: (name: string) => string;
  /** An attribute as a number, 0 if it is missing. */
  readonly at: (name: string) => number;
}

const attributeOf = (tag: string, name: string): string =>
  new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? "";

/** The corners of a path, or the points of a cloud. */
export const corners = (path: string): [number, number][] =>
  [...path.matchAll(/[ML](-?[\d.]+)[ ,](-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);

function drawnOf(text: string): Drawn {
  const place = /translate\(([\d.]+) ([\d.]+)\)/.exec(text)?.slice(1).map(Number) as [
    number,
    number,
  ];
  const groups = (label: string): readonly (readonly [tag: string, content: string])[] =>
    [...text.matchAll(new RegExp(`(<g[^>]* aria-label="${label}"[^>]*>)(.*?)</g>`, "gs"))].map(
      ([, tag, content]) => [tag, content],
    );
  const ticksOf = (axis: "x" | "y"): ReadonlyMap<string, number> =>
    new Map(
      groups(`${axis}-axis tick label`)
        .flatMap(([, content]) => [
          ...content.matchAll(/translate\(([\d.]+),([\d.]+)\)"[^>]*>([^<]*)</g),
        ])
        .map(([, x, y, label]) => [label, Number(axis === "x" ? x : y)]),
    );
  const ticks = { x: ticksOf("x"), y: ticksOf("y") };
  return {
    place,
    ticks,
    read: (axis, pixel) => {
      const known = [...ticks[axis]].map(([label, at]) => [
        Number(label.replace("−", "-").replace(",", "")),
        at,
      ]);
      const [[a, from], [b, to]] = [known[0], known[known.length - 1]];
      return a + ((pixel - from) / (to - from)) * (b - a);
    },
    marks: (kind) =>
      groups(kind).map(([tag, content]) =>
        [...content.matchAll(/<(?:path|line|rect|circle|text)[^>]*>/g)].map(([own]) => ({
          colour:
            [own, tag]
              .flatMap((of) => [attributeOf(of, "stroke"), attributeOf(of, "fill")])
              .find((c) => c[0] === "#") ?? "",
          attribute: (name) => attributeOf(own, name),
          at: (name) => Number(attributeOf(own, name)),
        })),
      ),
    text,
  };
}

/** The plots of a figure, row by row. */
export const plotsOf = (svg: string): readonly Drawn[] =>
  svg
    .split(/(?=<g transform="translate\([\d.]+ [\d.]+\)" fill="currentColor")/)
    .slice(1)
    .map(drawnOf)
    .filter(({ text }) => text.includes("-axis") || text.includes('aria-label="text"'));
