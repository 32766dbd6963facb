/**
 * A diffusion of sequences: balanced brackets of two kinds, with ten signs each. A closing bracket
 * must match the kind opened last, which may be far away. One random sequence in 780 is balanced.
 * The first argument is the number of training steps (default 1,000), the second the number of
 * sampled sequences (default 200).
 */
import { sampleGrids, trainGrid } from "diffeo/categorical";
import { key, uniform } from "diffeo/random";

const LENGTH = 10;
const SIGNS = "([)]";

/** Whether every closing bracket matches the kind opened last: 0 and 1 open, 2 and 3 close. */
function isBalanced(sequence: readonly number[]): boolean {
  const open: number[] = [];
  for (const s of sequence)
    if (s < 2) open.push(s);
    else if (open.pop() !== s - 2) return false;
  return open.length === 0;
}

/** A balanced sequence, from two numbers in [0, 1) per sign. */
function balanced(random: ArrayLike<number>, from: number): number[] {
  const open: number[] = [];
  return Array.from({ length: LENGTH }, (_, i) => {
    const left = LENGTH - i;
    const opens = open.length === 0 || (open.length < left && random[from + 2 * i] < 0.5);
    if (!opens) return (open.pop() as number) + 2;
    open.push(random[from + 2 * i + 1] < 0.5 ? 0 : 1);
    return open.at(-1) as number;
  });
}

const ROWS = 4000;
const random = uniform(key("brackets"), [ROWS * 2 * LENGTH]).data;
const data = Array.from({ length: ROWS }, (_, i) => balanced(random, i * 2 * LENGTH));

const model = await trainGrid(Uint8Array.from(data.flat()), {
  classes: SIGNS.length,
  grid: [LENGTH],
  steps: Number(process.argv[2] ?? 1000),
});

const COUNT = Number(process.argv[3] ?? 200);
const drawn = await sampleGrids(model, { count: COUNT, key: key("samples"), batch: COUNT });
const sequences = Array.from({ length: COUNT }, (_, i) => [
  ...drawn.subarray(i * LENGTH, (i + 1) * LENGTH),
]);
for (const sequence of sequences.slice(0, 4)) console.log(sequence.map((s) => SIGNS[s]).join(""));
console.log(`balanced: ${sequences.filter(isBalanced).length} of ${COUNT}`);
