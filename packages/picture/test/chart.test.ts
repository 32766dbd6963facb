/** Charts: reproducible text, text alternatives, and no dependence on style sheets. */
import { parseHTML } from "linkedom";
import { afterEach, describe, expect, it } from "vitest";
import { plotsOf } from "../../../test/drawn.ts";
import { type ChartOptions, COLOURS, chart, grid, Plot } from "../src/chart.ts";
import { stackedFigures } from "../src/index.ts";
import { hasFont, renderPng } from "../src/node/index.ts";
import { chartDocument } from "../src/page-document.ts";

/** The part of a DOM element that the tests use. */
interface Element {
  readonly textContent: string;
  getAttribute(name: string): string | null;
  querySelector(selector: string): Element | null;
}

const points = [
  { x: 0, y: 1 },
  { x: 1, y: 3 },
  { x: 2, y: 2 },
];
const options = (): ChartOptions => ({
  title: 'Rows & columns, a < b > "c"',
  note: "What a reader must know",
  description: "Three points & a line",
  legend: [
    { label: "one", colour: COLOURS.blue },
    { label: "two <2>", colour: COLOURS.vermilion, symbol: "diamond2" },
  ],
  panels: [0, 1].map((i) => ({
    heading: `panel ${i}`,
    x: { label: "across" },
    y: { label: "up & down", domain: [0, 4] },
    marks: [
      Plot.line(points, { x: "x", y: "y", marker: "circle", stroke: COLOURS.blue, clip: true }),
      Plot.dot(points, { x: "x", y: "y", title: ({ y }: { y: number }) => `is ${y} & more` }),
    ],
  })),
});

describe("a chart", () => {
  it("has the same text each time, with unique ids", () => {
    const first = chart(options());
    expect(chart(options())).toBe(first);
    expect(first).not.toMatch(/plot-(clip|marker)/);
    const ids = [...first.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of first.matchAll(/url\(#([^)]+)\)/g)) expect(ids).toContain(id);
    // Two charts in one page do not share clips.
    const other = chart({ ...options(), title: "another" });
    for (const [, id] of other.matchAll(/ id="([^"]+)"/g)) expect(ids).not.toContain(id);
  });

  it("has a title, a description and axis labels", () => {
    const { document } = parseHTML(`<body>${chart(options())}</body>`);
    const svg = document.querySelector("svg");
    expect(svg?.getAttribute("role")).toBe("img");
    expect(svg?.querySelector("title")?.textContent).toBe('Rows & columns, a < b > "c"');
    expect(svg?.querySelector("desc")?.textContent).toBe("Three points & a line");
    const texts = Array.from(
      svg?.querySelectorAll("text") ?? [],
      (text) => (text as { textContent: string }).textContent,
    );
    for (const text of ['Rows & columns, a < b > "c"', "What a reader must know", "one", "two <2>"])
      expect(texts.filter((found) => found === text)).toHaveLength(1);
    for (const text of ["across", "up & down"])
      expect(texts.filter((found) => found === text)).toHaveLength(2);
    expect(texts).toContain("panel 1");
  });

  it("places marks according to the axes", () => {
    const { document } = parseHTML(`<body>${chart(options())}</body>`);
    const at = (element: Element | undefined): number[] =>
      (/translate\(([\d.]+),([\d.]+)\)/.exec(element?.getAttribute("transform") ?? "") ?? [])
        .slice(1)
        .map(Number);
    const label = (axis: string, text: string): Element | undefined =>
      Array.from(
        document.querySelectorAll(
          `g[aria-label="${axis}-axis tick label"] text`,
        ) as Iterable<Element>,
      ).find((found) => found.textContent === text);
    const dots = Array.from(
      document.querySelectorAll('g[aria-label="dot"] circle') as Iterable<Element>,
    );
    const first = dots.filter((dot) => dot.querySelector("title")).slice(0, 3);
    points.forEach(({ x, y }, i) => {
      expect(Number(first[i].getAttribute("cx"))).toBeCloseTo(
        at(label("x", `${x.toFixed(1)}`))[0],
        6,
      );
      expect(Number(first[i].getAttribute("cy"))).toBeCloseTo(
        at(label("y", `${y.toFixed(1)}`))[1],
        6,
      );
    });
  });

  it("has panels in rows, like plots in a grid; figures are stacked vertically", () => {
    const [panel] = options().panels;
    const [a, b, c] = plotsOf(
      chart({ ...options(), panels: [panel, panel, panel], columns: 2 }),
    ).map(({ place }) => place);
    expect([b[0] > a[0], b[1], c[0], c[1] > a[1]]).toEqual([true, a[1], a[0], true]);
    const plot = { marks: [Plot.dot(points, { x: "x", y: "y" })] };
    const cells = [
      [plot, plot],
      [plot, undefined],
    ];
    const [p, q, r] = plotsOf(grid({ title: "", description: "", cells, side: 80 })).map(
      ({ place }) => place,
    );
    expect([q[0] > p[0], q[1], r[0], r[1] > p[1]]).toEqual([true, p[1], p[0], true]);
    const figures = [50, 30, 20].map(
      (height) => `<svg width="${2 * height}" height="${height}"></svg>`,
    );
    const stacked = stackedFigures(figures);
    expect([...stacked.matchAll(/<svg x="0" y="(\d+)"/g)].map(([, y]) => Number(y))).toEqual([
      0, 50, 80,
    ]);
    expect(stacked).toMatch(/^<svg [^>]*width="100" height="100"/);
  });

  it("needs no style sheet, and can be rendered as PNG", () => {
    const svg = chart(options());
    expect(svg).not.toMatch(/<style|var\(|class=/);
    expect([...renderPng(svg).subarray(1, 4)].map((c) => String.fromCharCode(c)).join("")).toBe(
      "PNG",
    );
  });

  it("detects whether a font is available", () => {
    const png = (text: string): string =>
      Buffer.from(
        renderPng(
          `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text y="15">${text}</text></svg>`,
        ),
      ).toString("base64");
    expect(hasFont()).toBe(png("w") !== png(""));
    expect(hasFont(false)).toBe(false);
  });
});

describe("in a page", () => {
  afterEach(() => {
    delete (globalThis as { document?: unknown }).document;
  });

  it("uses the document of the page", () => {
    const { document } = parseHTML("<body></body>");
    Object.assign(globalThis, { document });
    expect(chartDocument()).toBe(document);
  });
});
