/** The picture of the home page on a canvas: every point in the plane, and on the triangle. */
import type { Colours } from "../../view/colours.ts";
import type { Moment, Picture } from "./tasks.ts";

/** The picture shows the plane from −REACH to REACH. */
const REACH = 3;

interface Box {
  readonly left: number;
  readonly top: number;
  readonly size: number;
}

/** The corners of the triangle are y₁ = 1, y₂ = 1 and y₃ = 1 − y₁ − y₂ = 1. */
const onTriangle = ({ left, top, size }: Box, a: number, b: number): [number, number] => [
  left + size * (b + (1 - a - b) / 2),
  top + size * (0.93 - 0.866 * (1 - a - b)),
];
const inPlane = ({ left, top, size }: Box, a: number, b: number): [number, number] => [
  left + (size * (a + REACH)) / (2 * REACH),
  top + (size * (REACH - b)) / (2 * REACH),
];

type Place = (box: Box, a: number, b: number) => [number, number];

function drawLines(
  context: CanvasRenderingContext2D,
  box: Box,
  place: Place,
  lines: readonly Float32Array[],
): void {
  context.beginPath();
  for (const line of lines)
    for (let i = 0; i < line.length; i += 2) {
      const [px, py] = place(box, line[i], line[i + 1]);
      if (i === 0) context.moveTo(px, py);
      else context.lineTo(px, py);
    }
  context.stroke();
}

function drawPoints(
  context: CanvasRenderingContext2D,
  box: Box,
  place: Place,
  points: Float32Array,
  kinds: Uint8Array,
  colours: readonly string[],
  radius: number,
): void {
  for (const [kind, colour] of colours.entries()) {
    context.fillStyle = colour;
    context.beginPath();
    for (let i = 0; i < kinds.length; i++) {
      if (kinds[i] !== kind) continue;
      const [px, py] = place(box, points[2 * i], points[2 * i + 1]);
      context.moveTo(px + radius, py);
      context.arc(px, py, radius, 0, 2 * Math.PI);
    }
    context.fill();
  }
}

/** The cluster of each point at the end: the nearest corner of the triangle. */
export function kindsOf({ y }: Moment): Uint8Array {
  return Uint8Array.from({ length: y.length / 2 }, (_, i) => {
    const parts = [y[2 * i], y[2 * i + 1], 1 - y[2 * i] - y[2 * i + 1]];
    return parts.indexOf(Math.max(...parts));
  });
}

export function drawScene(
  canvas: HTMLCanvasElement,
  { grid }: Picture,
  { x, y }: Moment,
  kinds: Uint8Array,
  colours: Colours,
): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const { width, height } = canvas;
  const size = Math.min(height, width * 0.44);
  const top = (height - size) / 2;
  const plane: Box = { left: 0, top, size };
  const triangle: Box = { left: width - size, top, size };
  context.clearRect(0, 0, width, height);
  context.lineWidth = width / 900;
  context.strokeStyle = colours.line;
  drawLines(
    context,
    plane,
    inPlane,
    grid.map((line) => line.x),
  );
  drawLines(
    context,
    triangle,
    onTriangle,
    grid.map((line) => line.y),
  );
  context.lineWidth = width / 600;
  context.strokeStyle = colours.faint;
  drawLines(context, triangle, onTriangle, [Float32Array.of(1, 0, 0, 1, 0, 0, 1, 0)]);
  const radius = width / 380;
  // One colour per component.
  const points = [colours.blue, colours.vermilion, colours.green];
  drawPoints(context, plane, inPlane, x, kinds, points, radius);
  drawPoints(context, triangle, onTriangle, y, kinds, points, radius);
}
