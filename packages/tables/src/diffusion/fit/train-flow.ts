/**
 * Training of a flow T on standardised points w (`flow.ts`), by maximum likelihood with a little
 * noise:
 *
 *   −log p(w) = ‖T(w)‖²/2 − log|det J_T(w)| + const → min
 */
import { add, fail, mean, mul, type NdArray, square, sub, sum, type Tensor } from "diffeo/graph";
import { pickRows } from "diffeo/host";
import {
  type CouplingFlow,
  type CouplingFlowOptions,
  couplingsFor,
  networkOf,
  normalised,
} from "diffeo/model";
import { fold, integers, type Key, normal } from "diffeo/random";
import type { RunStore } from "diffeo/train";
import { type Coordinates, type Flow, type FlowKind, flowing } from "../network/index.ts";
import { BATCH } from "./loss.ts";
import { trainParameters } from "./train.ts";
import type { TrainingOptions } from "./training-options.ts";

const WIDTH = 64;
const BINS = 8;
/** Steps of a flow. It does not have to be exact: the network behind it learns the rest. */
const STEPS = 1000;
/**
 * Noise that is added to rows in training, in standard deviations. Without it a flow memorises
 * them, and held-out rows become improbable.
 */
const NOISE = 0.6;

export interface FlowTraining extends TrainingOptions {
  readonly kind: FlowKind;
  readonly store?: RunStore;
}

/** −log p(w), up to a constant. */
function flowLoss(p: CouplingFlow<Tensor>, w: Tensor, options: CouplingFlowOptions): Tensor {
  const { x, logDet } = normalised(p, w, options);
  return mean(sub(mul(sum(square(x), -1), 0.5), logDet));
}

/** Trains a flow on standardised points [rows, n], and measures on others. */
export async function trainFlow(
  coordinates: Coordinates,
  points: NdArray,
  held: NdArray,
  { kind, ...options }: FlowTraining,
): Promise<Flow> {
  const [rows, n] = points.shape;
  const moved = flowing(coordinates);
  if (moved.length < 2)
    fail(
      "usage",
      `a flow of ${moved.length} coordinates of numbers`,
      "fit without a flow: it needs two at least",
    );
  const network: Flow["network"] = {
    kind: "couplings",
    channels: n,
    ...(moved.length < n && { moved }),
    couplings: couplingsFor(moved.length),
    width: WIDTH,
    ...(kind === "spline" && { bins: BINS }),
  };
  const batch = (from: NdArray, key: Key): NdArray[] => [
    pickRows(from, integers(fold(key, "rows"), BATCH, 0, from.shape[0]).data),
    normal(fold(key, "noise"), [BATCH, n]),
  ];
  const { parameters } = await trainParameters(
    {
      name: "flow",
      init: networkOf(network).init,
      rows,
      shapes: [
        [BATCH, n],
        [BATCH, n],
      ],
      loss: (p, [w, noise]) =>
        flowLoss(p as unknown as CouplingFlow<Tensor>, add(w, mul(noise, NOISE)), network),
      batch: (key) => batch(points, key),
      held: (key) => batch(held, key),
    },
    { ...options, steps: Math.min(options.steps ?? STEPS, STEPS) },
  );
  return { network, parameters };
}
