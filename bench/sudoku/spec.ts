/** The network and the encoding of the models of 9×9 Sudokus. */
import { type ModelSpec, standardise } from "diffeo/categorical";
import { layoutOf } from "./layout.ts";

/** The shape of the network. */
export interface SudokuShape {
  readonly width: number;
  readonly layers: number;
  /** The width between the two products of a layer. Default twice the width. */
  readonly inner?: number;
}

/** The spec of an exchangeable network with likelihoods as inputs, for 9×9 Sudokus. */
export function sudokuSpec({ width, layers, inner = 2 * width }: SudokuShape): ModelSpec {
  const { size, rows, columns, boxes } = layoutOf([3, 3]);
  return {
    parameterisation: "posterior",
    sees: "likelihoods",
    encoding: standardise(new Array<number>(size).fill(1 / size), {
      grid: [size, size],
      map: "isometricLogRatio",
    }),
    network: {
      kind: "exchangeable",
      channels: size,
      grid: [size, size],
      groups: [rows, columns, boxes],
      width,
      inner,
      layers,
    },
  };
}
