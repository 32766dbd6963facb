import {
  compileDenoiserStep,
  denoiserBatch,
  freshModel,
  type ModelSpec,
  modelOf,
} from "diffeo/categorical";
import { key } from "diffeo/random";
import { initialState, rateAt } from "diffeo/train";
import { expect, it } from "vitest";
import { EMPTY, PIECES, type Positions, pack, SQUARES, unpack } from "../src/board/position.ts";
import { chessSpec, positionGrids } from "../src/diffusion/encoding.ts";
import { sampleBoards } from "../src/diffusion/sample.ts";
import { independentSquares, squareMarginals } from "../src/measure/marginals.ts";

const BOARDS = 32;
const COUNT = 64;
const STEPS = 200;

/**
 * Kings in opposition, two ranks apart on one file: the white one on each square of the lower half.
 * Where one king is tells where the other is, and that there is no third.
 */
function opposition(): Positions {
  const squares = new Uint8Array(BOARDS * SQUARES).fill(EMPTY);
  for (let i = 0; i < BOARDS; i++) {
    squares[i * SQUARES + (SQUARES - 1 - i)] = PIECES.indexOf("K");
    squares[i * SQUARES + (SQUARES - 17 - i)] = PIECES.indexOf("k");
  }
  return pack(squares);
}

const boardsOf = (positions: Positions): string[] => {
  const squares = unpack(positions);
  return Array.from({ length: positions.count }, (_, i) =>
    squares.slice(i * SQUARES, (i + 1) * SQUARES).join(),
  );
};

it("a tiny U-Net overfits 32 boards: its samples are among them, and nearly all of them are found", async () => {
  const positions = opposition();
  const spec: ModelSpec = {
    network: {
      kind: "unet",
      channels: 12,
      width: 16,
      multipliers: [1, 1],
      blocks: 1,
      groups: 8,
      attention: [0],
      position: [8, 8],
      outputs: 13,
    },
    parameterisation: "posterior",
    encoding: chessSpec(positions),
  };
  const fresh = freshModel(spec, key(1));
  const step = compileDenoiserStep(fresh, { emaDecay: 0.95, threads: 1 });
  const grids = positionGrids(positions);
  let state = initialState(fresh.parameters);
  for (let s = 1; s <= STEPS; s++) {
    const rate = rateAt(s, { peak: 0.008, warmup: 20, steps: STEPS });
    ({ state } = await step(
      state,
      denoiserBatch(fresh, grids, { size: 16, key: key(1), step: s }),
      s,
      rate,
    ));
  }
  await step.dispose();

  const model = modelOf(spec, state.ema.data as Float32Array);
  const drawn = await sampleBoards(model, { count: COUNT, key: key(5), steps: 40, threads: 1 });
  const known = new Set(boardsOf(positions));
  const found = boardsOf(drawn.positions).filter((board) => known.has(board));
  expect(found.length).toBeGreaterThanOrEqual(0.9 * COUNT);
  // 64 fair draws of 32 leave out four of them on average.
  expect(new Set(found).size).toBeGreaterThanOrEqual(20);

  // What squares know of each other is all of it: drawn alone, each from its own marginal, they
  // make none.
  const alone = boardsOf(independentSquares(squareMarginals(positions), COUNT, key(6))).filter(
    (board) => known.has(board),
  );
  expect(alone.length).toBeLessThan(0.1 * COUNT);
});
