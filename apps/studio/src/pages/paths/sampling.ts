/** Running the samplers on a Brownian path, and measuring where the samples end. */
import type { NdArray } from "diffeo/graph";
import { key } from "diffeo/random";
import type { NoiseSource } from "diffeo/sampler";
import { numbers, type Opened } from "./graphs.ts";
import type { Ends } from "./shapes.ts";
import type { PathSpace } from "./spaces.ts";

/** Keeps the increments of a path, because all runs on the path use the same ones. */
export function remembered(path: NoiseSource): NoiseSource {
  const kept = new Map<string, Float32Array | Float64Array>();
  return (draw) => {
    const name = `${draw.from} ${draw.to}`;
    const found = kept.get(name) ?? path(draw);
    kept.set(name, found);
    return found;
  };
}

export interface Taken {
  readonly ends: Float64Array;
  readonly exits: number;
  /** The first sample at each time. */
  readonly path: Float64Array;
}

type Draw = Opened["domain"];

/** Runs a sampler along a path; `follow` keeps the first sample at each time. */
export async function take(
  draw: Draw,
  n: number,
  start: NdArray,
  grid: readonly number[],
  noise: NoiseSource,
  {
    w,
    signal,
    follow,
  }: { readonly w: number; readonly signal: AbortSignal; readonly follow: boolean },
): Promise<Taken> {
  const path = [...numbers(start).subarray(0, n)];
  const { samples, exits } = await draw({
    start,
    grid,
    noise,
    signal,
    key: key("paths"),
    ...(w !== 1 && { driftScale: w }),
    ...(follow && {
      onStep: async ({ points }) => void path.push(...numbers(await points()).subarray(0, n)),
    }),
  });
  return { ends: numbers(samples), exits, path: Float64Array.from(path) };
}

/** A path in the coordinates of its picture. */
export function seenPath(
  see: PathSpace["see"],
  path: Float64Array,
  times: readonly number[],
): Float32Array {
  const out = new Float32Array(2 * times.length);
  times.forEach((t, i) => {
    out.set(see(path, i, t), 2 * i);
  });
  return out;
}

/** The ends of all samples, the exits, and the share of ends near the boundary. */
export function endsOf({ space }: Opened, { ends, exits }: Pick<Taken, "ends" | "exits">): Ends {
  const count = ends.length / space.dimension;
  const points = new Float32Array(2 * count);
  let near = 0;
  for (let i = 0; i < count; i++) {
    points.set(space.see(ends, i, (i + 0.5) / count), 2 * i);
    if (space.margin(ends, i) < space.near) near++;
  }
  return { points, exits, near: near / count };
}

/** The mean Euclidean distance between rows of n numbers. */
export function meanDistance(a: Float64Array, b: Float64Array, n: number): number {
  let total = 0;
  for (let i = 0; i < a.length; i += n) {
    let square = 0;
    for (let k = i; k < i + n; k++) square += (a[k] - b[k]) ** 2;
    total += Math.sqrt(square);
  }
  return (total * n) / a.length;
}
