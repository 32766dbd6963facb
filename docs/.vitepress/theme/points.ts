/** A picture of points: on a plane with its ranges, or on the triangle of three shares. */

/** An array of diffeo: `data` row by row. */
interface Points {
  readonly shape: readonly number[];
  readonly data: ArrayLike<number>;
}

/** Circles and labels in a square of 100 units a side. */
export interface Picture {
  readonly circles: readonly { readonly x: number; readonly y: number }[];
  readonly outline: string;
  readonly labels: readonly { readonly x: number; readonly y: number; readonly text: string }[];
}

/** Whether a value has the shape of points. */
export const isPoints = (value: unknown): value is Points => {
  const { shape, data } = (value ?? {}) as Partial<Points>;
  return data !== undefined && shape?.length === 2 && shape[1] >= 2;
};

const HEIGHT = Math.sqrt(3) / 2;

function onTriangle(rows: readonly (readonly number[])[]): Picture {
  // Shares (y₁, y₂, 1 − y₁ − y₂): the first corner is left, the second right, the third above.
  const place = (y1: number, y2: number) => {
    const top = 1 - y1 - y2;
    return { x: 6 + 88 * (y2 + top / 2), y: 90 - 88 * HEIGHT * top };
  };
  const corners = [place(1, 0), place(0, 1), place(0, 0)];
  return {
    circles: rows.map(([y1, y2]) => place(y1, y2)),
    outline: corners.map(({ x, y }) => `${x},${y}`).join(" "),
    labels: corners.map(({ x, y }, i) => ({ x, y: i === 2 ? y - 3 : y + 7, text: `y${i + 1}` })),
  };
}

function onPlane(rows: readonly (readonly number[])[]): Picture {
  const range = (axis: number): readonly [number, number] => {
    const values = rows.map((row) => row[axis]);
    return [Math.min(...values), Math.max(...values)];
  };
  const [[left, right], [low, high]] = [range(0), range(1)];
  const across = (x: number): number => 8 + (84 * (x - left)) / (right - left || 1);
  const up = (y: number): number => 90 - (84 * (y - low)) / (high - low || 1);
  const label = (value: number): string => String(Number(value.toPrecision(2)));
  return {
    circles: rows.map(([x, y]) => ({ x: across(x), y: up(y) })),
    outline: "4,4 96,4 96,94 4,94",
    labels: [
      { x: 10, y: 99, text: label(left) },
      { x: 90, y: 99, text: label(right) },
    ],
  };
}

/** Draws at most a thousand points. */
export function draw({ shape, data }: Points, where: "plane" | "triangle"): Picture {
  const [count, width] = shape;
  const rows = Array.from({ length: Math.min(count, 1000) }, (_, i) => [
    data[i * width],
    data[i * width + 1],
  ]);
  return where === "triangle" ? onTriangle(rows) : onPlane(rows);
}
