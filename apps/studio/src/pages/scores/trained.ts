/**
 * What training in several ways costs: nats lost on held-out points, medians over ten seeds of the
 * study where-to-train. A test compares the numbers with its records.
 */
import type { MapName } from "./names.ts";

/** Ways to train one network, best first. */
export const WAYS = [
  { way: "x", label: "in x, no weights" },
  { way: "y-metric", label: "in x, network reads y" },
  { way: "bounded", label: "in x, weights up to 100" },
  { way: "weighted", label: "in x, weights J⁻ᵀ" },
  { way: "y", label: "in y" },
] as const;

/** Nats by way; null where the trained flow is too stiff for a likelihood. */
interface Lost {
  readonly map: string;
  readonly inside: readonly (number | null)[];
  readonly boundary: readonly (number | null)[];
}

export const LOST: Readonly<Partial<Record<MapName, Lost>>> = {
  additiveLogistic: {
    map: "additiveLogistic",
    inside: [0.0181, 0.0419, 0.0584, 0.105, 2.39],
    boundary: [0.0181, 0.294, 0.364, 2.1, 58.6],
  },
  isometricLogRatio: {
    map: "isometricLogRatio",
    inside: [0.0181, 0.0492, 0.117, 0.206, 1.8],
    boundary: [0.0181, 0.402, 0.305, 2.57, null],
  },
  stickBreaking: {
    map: "stickBreaking",
    inside: [0.0181, 0.0291, 0.0548, 0.0919, 0.899],
    boundary: [0.0181, 0.246, 0.263, 2.23, 23.4],
  },
  sigmoidMap: {
    map: "cube",
    inside: [0.0181, 0.029, 0.0292, 0.0317, 0.554],
    boundary: [0.0181, 0.185, 0.217, 1.6, 18.1],
  },
  unitBall: {
    map: "ball",
    inside: [0.0181, 0.0811, 0.178, 0.278, null],
    boundary: [0.0181, 0.381, 0.266, 0.521, 11.7],
  },
};
