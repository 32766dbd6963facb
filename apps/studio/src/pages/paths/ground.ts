/** The backgrounds of the pictures: densities and bent grids. */
import { type Frame, gridLines, lattice } from "../../view/frame.ts";
import { numbers, type Opened, rows } from "./graphs.ts";
import type { Ground } from "./shapes.ts";

const SHADES = 120;

/**
 * The density at t = 0 for a plane, or the marginal densities over time for a line; and the grid of
 * x with its image.
 */
export async function grounds({
  space,
  noised,
  logq,
  forward: map,
}: Opened): Promise<[Ground, Ground]> {
  const { frameX, frameY, dimension: n, lift } = space;
  const shadesOf = async (
    frame: Frame,
    f: typeof noised,
    at: (u: number, v: number) => number[],
  ): Promise<Float32Array> => {
    const u = lattice(frame, SHADES);
    const places = [...Array(u.length / 2).keys()];
    const points = Float64Array.from(places.flatMap((i) => at(u[2 * i], u[2 * i + 1])));
    const times = Float64Array.from(places, (i) =>
      n === 1 ? (u[2 * i] - frame.low[0]) / frame.size : 0,
    );
    return Float32Array.from(numbers(await f(rows(points, n), times)));
  };
  const lines = n === 2 ? gridLines({ low: [-7, -7], size: 14 }, 14, 141) : levels(frameX);
  const whole = Float64Array.from(
    lines.flatMap((line) => (n === 2 ? [...line] : [...line].filter((_, i) => i % 2 === 1))),
  );
  const y = numbers(await map(rows(whole, n)));
  const along = lines[0].length / 2;
  const seenY = lines.map((line, k) => {
    const out = new Float32Array(2 * along);
    for (let i = 0; i < along; i++)
      out.set(space.see(y, k * along + i, line[2 * i] / frameX.size), 2 * i);
    return out;
  });
  return [
    {
      frame: frameX,
      shades: await shadesOf(frameX, noised, (u, v) => (n === 2 ? [u, v] : [v])),
      grid: lines.map((l) => Float32Array.from(l)),
    },
    { frame: frameY, shades: await shadesOf(frameY, logq, lift), grid: seenY },
  ];
}

/** Lines of constant x over time. */
const levels = ({ low, size }: Frame): Float64Array[] =>
  Array.from({ length: 2 * size + 1 }, (_, k) =>
    Float64Array.of(0, low[1] + k / 2, size, low[1] + k / 2),
  );
