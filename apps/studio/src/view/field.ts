/**
 * Fields on a canvas: a density as shade and level lines, grids, arrows, paths. Widths of lines are
 * in pixels of the page, whatever the scale of the plane.
 */
import type { Colours } from "./colours.ts";
import type { Frame } from "./frame.ts";

/** A square canvas and the section of the plane that it shows. */
export interface Brush {
  readonly context: CanvasRenderingContext2D;
  readonly frame: Frame;
  /** Pixels per side. */
  readonly side: number;
  /** Pixels of the canvas per pixel of the page. */
  readonly ratio: number;
  readonly colours: Colours;
}

const toScreen = ({ frame, side }: Brush, u: number, v: number): [number, number] => [
  ((u - frame.low[0]) / frame.size) * side,
  side - ((v - frame.low[1]) / frame.size) * side,
];

/** The domain as a path, if it has a boundary. */
function outlinePath(brush: Brush): Path2D | undefined {
  const { outline } = brush.frame;
  if (!outline) return undefined;
  const path = new Path2D();
  for (let i = 0; i < outline.length; i += 2)
    path.lineTo(...toScreen(brush, outline[i], outline[i + 1]));
  path.closePath();
  return path;
}

/** Clips a drawing to the domain. */
export function inside(brush: Brush, draw: () => void): void {
  const path = outlinePath(brush);
  brush.context.save();
  if (path) brush.context.clip(path);
  draw();
  brush.context.restore();
}

export function drawOutline(brush: Brush): void {
  const path = outlinePath(brush);
  if (!path) return;
  brush.context.strokeStyle = brush.colours.faint;
  brush.context.lineWidth = 1.25 * brush.ratio;
  brush.context.lineJoin = "round";
  brush.context.stroke(path);
}

/**
 * Replaces values that are not finite by the mean of their neighbours, twice, so that the shade
 * reaches the boundary; the outline clips the rest.
 */
function extend(values: Float32Array, n: number): Float32Array {
  let from = values;
  for (let pass = 0; pass < 2; pass++) {
    const to = from.slice();
    for (let i = 0; i < n * n; i++) {
      if (Number.isFinite(from[i])) continue;
      const column = i % n;
      const near = [column > 0 ? i - 1 : -1, column < n - 1 ? i + 1 : -1, i - n, i + n]
        .map((k) => from[k])
        .filter(Number.isFinite);
      if (near.length > 0) to[i] = near.reduce((a, b) => a + b, 0) / near.length;
    }
    from = to;
  }
  return from;
}

/**
 * The value with the darkest shade: a high quantile, as a density may have thin peaks at a
 * boundary.
 */
function heightOf(values: Float32Array): number {
  const finite = values.filter(Number.isFinite).sort();
  return finite.length > 0 ? finite[Math.floor(0.997 * (finite.length - 1))] : 0;
}

const channels = (colour: string): number[] =>
  (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);

/**
 * Draws a density as shade and level lines, at e^(−k²/2) of its height.
 * @param values the log density, n × n, rows from below
 */
export function drawDensity(brush: Brush, values: Float32Array, strength = 0.55): void {
  const n = Math.sqrt(values.length);
  const filled = extend(values, n);
  const height = heightOf(values);
  const image = new ImageData(n, n);
  const [red, green, blue] = channels(brush.colours.blue);
  for (let row = 0; row < n; row++)
    for (let column = 0; column < n; column++) {
      const value = filled[(n - 1 - row) * n + column];
      const tone = Number.isFinite(value) ? Math.min(1, Math.exp(0.62 * (value - height))) : 0;
      image.data.set([red, green, blue, 255 * strength * tone], 4 * (row * n + column));
    }
  const small = new OffscreenCanvas(n, n);
  small.getContext("2d")?.putImageData(image, 0, 0);
  const { context, side, ratio, colours } = brush;
  inside(brush, () => {
    context.imageSmoothingEnabled = true;
    context.imageSmoothingQuality = "high";
    context.drawImage(small, 0, 0, side, side);
    context.strokeStyle = colours.blue;
    context.lineWidth = ratio;
    [0.5, 1, 1.5, 2, 2.5, 3, 3.5].forEach((k) => {
      context.globalAlpha = 0.7 - 0.13 * k;
      context.stroke(levelLine(filled, n, height - (k * k) / 2, side));
    });
  });
}

/** The line where values cross a level, by marching squares. */
function levelLine(values: Float32Array, n: number, level: number, side: number): Path2D {
  const path = new Path2D();
  const place = (column: number, row: number): [number, number] => [
    ((column + 0.5) / n) * side,
    side - ((row + 0.5) / n) * side,
  ];
  for (let row = 0; row < n - 1; row++)
    for (let column = 0; column < n - 1; column++) {
      const i = row * n + column;
      const [a, b, c, d] = [values[i], values[i + 1], values[i + n + 1], values[i + n]];
      const count = Number(a > level) + Number(b > level) + Number(c > level) + Number(d > level);
      if (count === 0 || count === 4 || !Number.isFinite(a + b + c + d)) continue;
      const corners = [a, b, c, d];
      const crossings: [number, number][] = [];
      for (let k = 0; k < 4; k++) {
        const [from, to] = [corners[k], corners[(k + 1) % 4]];
        if (from > level === to > level) continue;
        const s = (level - from) / (to - from);
        crossings.push(place(column + [s, 1, 1 - s, 0][k], row + [0, s, 1, 1 - s][k]));
      }
      for (let k = 0; k + 1 < crossings.length; k += 2) {
        path.moveTo(...crossings[k]);
        path.lineTo(...crossings[k + 1]);
      }
    }
  return path;
}

/** Draws lines through points u₁ u₂ …; a point that is not finite leaves a gap. */
export function drawLines(
  brush: Brush,
  lines: readonly ArrayLike<number>[],
  {
    colour,
    width,
    alpha = 1,
  }: { readonly colour: string; readonly width: number; readonly alpha?: number },
): void {
  const { context, ratio } = brush;
  context.save();
  context.strokeStyle = colour;
  context.globalAlpha = alpha;
  context.lineWidth = width * ratio;
  context.lineJoin = "round";
  context.lineCap = "round";
  context.beginPath();
  for (const line of lines) {
    let down = false;
    for (let i = 0; i < line.length; i += 2) {
      const finite = Number.isFinite(line[i]) && Number.isFinite(line[i + 1]);
      if (finite && down) context.lineTo(...toScreen(brush, line[i], line[i + 1]));
      else if (finite) context.moveTo(...toScreen(brush, line[i], line[i + 1]));
      down = finite;
    }
  }
  context.stroke();
  context.restore();
}

/** The corners of an arrow with a head at its end, in pixels. */
export function arrowShape(
  x: number,
  y: number,
  dx: number,
  dy: number,
  width: number,
): [number, number][] {
  const length = Math.hypot(dx, dy);
  if (!(length > 0)) return [];
  const [ax, ay] = [dx / length, dy / length];
  const head = Math.min(3.4 * width, 0.6 * length);
  const at = (along: number, across: number): [number, number] => [
    x + ax * along - ay * across,
    y + ay * along + ax * across,
  ];
  const [tail, neck, barb] = [0.18 * width, 0.5 * width, 0.42 * head];
  return [
    at(0, tail),
    at(length - 0.86 * head, neck),
    at(length - head, neck + barb),
    at(length, 0),
    at(length - head, -neck - barb),
    at(length - 0.86 * head, -neck),
    at(0, -tail),
  ];
}

/**
 * Draws arrows centred at points, with true directions. Lengths are compressed to fit their cells.
 */
export function drawArrows(
  brush: Brush,
  points: Float32Array,
  arrows: Float32Array,
  cells: number,
): void {
  const { context, side, ratio, colours } = brush;
  const lengths = Float32Array.from({ length: points.length / 2 }, (_, i) =>
    Math.hypot(arrows[2 * i], arrows[2 * i + 1]),
  );
  const sorted = lengths.filter(Number.isFinite).sort();
  const middle = sorted[Math.floor(sorted.length / 2)] || 1;
  const cell = side / cells;
  context.save();
  context.fillStyle = colours.ink;
  context.globalAlpha = 0.55;
  context.beginPath();
  for (let i = 0; i < lengths.length; i++) {
    if (!Number.isFinite(lengths[i]) || lengths[i] === 0) continue;
    const scale = (1.15 * cell) / (lengths[i] + 1.1 * middle);
    const [dx, dy] = [arrows[2 * i] * scale, -arrows[2 * i + 1] * scale];
    const [x, y] = toScreen(brush, points[2 * i], points[2 * i + 1]);
    const shape = arrowShape(x - dx / 2, y - dy / 2, dx, dy, 1.5 * ratio);
    shape.forEach(([px, py], k) => {
      if (k === 0) context.moveTo(px, py);
      else context.lineTo(px, py);
    });
    context.closePath();
  }
  context.fill();
  context.restore();
}

export function drawPoints(
  brush: Brush,
  points: ArrayLike<number>,
  colour: string,
  radius: number,
  alpha = 1,
): void {
  const { context, ratio } = brush;
  context.save();
  context.fillStyle = colour;
  context.globalAlpha = alpha;
  for (let i = 0; i < points.length; i += 2) {
    const [x, y] = toScreen(brush, points[i], points[i + 1]);
    context.beginPath();
    context.arc(x, y, radius * ratio, 0, 2 * Math.PI);
    context.fill();
  }
  context.restore();
}
