/** w for a number of pieces, and the number of pieces for a w, by a model's calibration. */
import { type Calibration, driftScaleFor, reachOf } from "diffeo-chess";

/** How many pieces each w gave, and at how many steps. */
export type Curve = Pick<Calibration, "points" | "steps">;

/** To four places: an address is written by people too. */
const rounded = (w: number): number => Math.round(1e4 * w) / 1e4;

export const scaleFor = (curve: Curve, pieces: number): number => {
  const [least, most] = reachOf(curve);
  return rounded(driftScaleFor(curve, Math.min(most, Math.max(least, pieces))));
};

/** The curve rises, so halving finds where it reaches w; outside of it, its ends. */
export function piecesFor(curve: Curve, w: number): number {
  let [low, high] = reachOf(curve);
  for (let i = 0; i < 24; i++) {
    const middle = (low + high) / 2;
    if (driftScaleFor(curve, middle) < w) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
