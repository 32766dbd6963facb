/** The maps that studies compare: a simplex three ways, a cube, a ball, all from R². */
import {
  additiveLogistic,
  affine,
  type Bijector,
  chain,
  isometricLogRatio,
  sigmoidMap,
  stickBreaking,
  unitBall,
} from "diffeo/bijector";

export const studyMaps = {
  additiveLogistic,
  isometricLogRatio,
  stickBreaking,
  cube: () => sigmoidMap(),
  ball: unitBall,
} as const satisfies Readonly<Record<string, () => Bijector>>;

export type StudyMap = keyof typeof studyMaps;

/** Names for tables. */
export const mapTitles: Readonly<Record<StudyMap, string>> = {
  additiveLogistic: "additive logistic",
  isometricLogRatio: "isometric log-ratio",
  stickBreaking: "stick-breaking",
  cube: "sigmoid, cube",
  ball: "ball",
};

/** φ(a x): the greater a, the closer y = φ(x) is to the boundary. */
export const scaledMap = (name: StudyMap, scale: number): Bijector =>
  chain(affine({ scale: [scale, scale], shift: [0, 0] }), studyMaps[name]());
