/**
 * Chess positions as points: the 13 classes of 64 squares as x of shape [positions, 8, 8, 12], and
 * back.
 */
import {
  type Categorical,
  type CategoricalSpec,
  categorical,
  type Grids,
  standardise,
} from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { CLASSES, type Positions, pack, select, unpack } from "../board/position.ts";

/** The share of each class among all squares. */
export function classShares(positions: Positions): number[] {
  const shares = new Array<number>(CLASSES).fill(0);
  const squares = unpack(positions);
  for (let i = 0; i < squares.length; i++) shares[squares[i]]++;
  return shares.map((n) => n / squares.length);
}

/** The encoding that standardises the given positions. */
export const chessSpec = (positions: Positions, epsilon = 0.01): CategoricalSpec =>
  standardise(classShares(positions), { grid: [8, 8], epsilon });

/**
 * The encoding of positions as points on a simplex per square, with the class shares of
 * `positions`.
 *
 * @param epsilon how far the point of a class lies from its vertex. Default 0.01
 */
export const chessEncoding = (positions: Positions, epsilon = 0.01): Categorical =>
  categorical(chessSpec(positions, epsilon));

/** Throws if an encoding is not one of chess positions. */
export function requireChess({ grid, classes }: CategoricalSpec): void {
  if (grid.join() !== "8,8" || classes !== CLASSES)
    fail(
      "usage",
      `the model has ${classes} classes on a grid [${grid.join(", ")}], so it is not a model ` +
        "of chess",
      "give a model of chess",
    );
}

/** x of packed positions. */
export const encodePositions = (encoding: Categorical, positions: Positions): Float32Array =>
  encoding.encode(unpack(positions));

/** Positions to train on. */
export const positionGrids = (positions: Positions): Grids => ({
  count: positions.count,
  select: (chosen) => unpack(select(positions, chosen)),
});

/** Packed positions of points in logits, or on the simplex. */
export const decodePositions = (
  encoding: Categorical,
  values: ArrayLike<number>,
  space: "logit" | "simplex" = "logit",
): Positions => pack(space === "logit" ? encoding.decode(values) : encoding.decodeSimplex(values));
