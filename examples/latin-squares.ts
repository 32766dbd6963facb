/**
 * Latin squares by diffusion: grids of 4×4 in which every row and every column has each of four
 * symbols once. There are 576; the model is trained on 400, without the rule, and samples 200. One
 * grid of random symbols in 7 million is a Latin square. The first argument is the number of
 * training steps (default 1,000), the second the number of samples.
 */
import { sampleGrids, trainGrid } from "diffeo/categorical";
import { key, permutation } from "diffeo/random";

const SIDE = 4;
const SITES = SIDE * SIDE;

/** Whether a symbol is allowed at a site, given the sites before it. */
const fits = (square: readonly number[], symbol: number): boolean => {
  const [row, column] = [Math.floor(square.length / SIDE), square.length % SIDE];
  return square.every(
    (s, i) => s !== symbol || (Math.floor(i / SIDE) !== row && i % SIDE !== column),
  );
};
const complete = (square: readonly number[]): number[][] =>
  square.length === SITES
    ? [[...square]]
    : [0, 1, 2, 3].filter((s) => fits(square, s)).flatMap((s) => complete([...square, s]));

const all = complete([]);
const order = permutation(key("order"), all.length).data;
const seen = Array.from(order.slice(0, 400), (i) => all[i]);

const model = await trainGrid(Uint8Array.from(seen.flat()), {
  classes: SIDE,
  grid: [SIDE, SIDE],
  batch: 32,
  steps: Number(process.argv[2] ?? 1000),
  onReport: ({ step, loss, speed }) => {
    if (step % 200 === 0)
      console.log(`step ${step}: loss ${loss.toFixed(3)}, ${speed.toFixed(0)} squares a second`);
  },
});

const COUNT = Number(process.argv[3] ?? 200);
const drawn = await sampleGrids(model, { count: COUNT, key: key("squares"), batch: COUNT });
const squares = Array.from({ length: COUNT }, (_, i) => [
  ...drawn.subarray(i * SITES, (i + 1) * SITES),
]);
const known = new Set(seen.map(String));
const valid = squares.filter((square) => square.every((s, i) => fits(square.slice(0, i), s)));
for (let row = 0; row < SIDE; row++)
  console.log(
    squares
      .slice(0, 8)
      .map((s) =>
        s
          .slice(row * SIDE, (row + 1) * SIDE)
          .map((k) => "ABCD"[k])
          .join(""),
      )
      .join("  "),
  );
console.log(
  `valid: ${valid.length} of ${COUNT}, ${valid.filter((s) => !known.has(String(s))).length} of them not among the data`,
);
