/** Panels of lines and of columns of seeds, in the look of all figures. */
import { FAINT, type Panel, Plot } from "diffeo-picture/chart";

export interface Point {
  readonly x: number;
  readonly y: number;
  /** The ends of a bar through the point. */
  readonly low?: number;
  readonly high?: number;
}

interface Series {
  readonly label: string;
  readonly colour: string;
  readonly points: readonly Point[];
}

export interface LinesOptions extends Omit<Panel, "marks"> {
  readonly series: readonly Series[];
  /**
   * Whether points of a series are joined. Default true; false where x counts things in no order.
   */
  readonly join?: boolean;
  /** A horizontal line, and what it is. */
  readonly level?: { readonly y: number; readonly label: string } | undefined;
}

/** Lines with a dot at each point and a bar where a spread is given. */
export const linesPanel = ({ series, level, join = true, ...options }: LinesOptions): Panel => ({
  ...options,
  marks: [
    ...(level
      ? [
          Plot.ruleY([level.y], { stroke: FAINT, strokeDasharray: "4 3" }),
          Plot.text([level], {
            y: "y",
            text: "label",
            frameAnchor: "right",
            lineAnchor: "bottom",
            fill: FAINT,
            dy: -2,
          }),
        ]
      : []),
    ...series.flatMap(({ label, colour, points }) => [
      Plot.ruleX(
        points.filter(({ low }) => low !== undefined),
        { x: "x", y1: "low", y2: "high", stroke: colour, strokeOpacity: 0.5 },
      ),
      ...(join ? [Plot.lineY(points, { x: "x", y: "y", stroke: colour, strokeWidth: 1.8 })] : []),
      Plot.dot(points, {
        x: "x",
        y: "y",
        r: join ? 3.2 : 4.5,
        fill: colour,
        stroke: "#ffffff",
        strokeWidth: 0.8,
        title: ({ x, y }: Point) => `${label}, ${x}: ${Number(y.toPrecision(3))}`,
      }),
    ]),
  ],
});
