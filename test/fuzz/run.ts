/**
 * npm run fuzz -- [parser] [count] [seed]: feeds one parser, or all of them, with almost valid
 * inputs.
 */
import { feed } from "./fuzz.ts";
import { parsers } from "./parsers.ts";

const names = Object.keys(await parsers());
const [first, ...rest] = process.argv.slice(2);
const [name, words] =
  first === undefined || /^\d/.test(first) ? [undefined, process.argv.slice(2)] : [first, rest];
const [count = 100_000, seed = Date.now() % 2 ** 31] = words.map(Number);
if (name !== undefined && !names.includes(name))
  throw new Error(`unknown parser ${name}. Parsers: ${names.join(", ")}`);
for (const each of name === undefined ? names : [name]) {
  const began = performance.now();
  const { read, refused, slowest } = await feed(each, count, seed);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    `${each.padEnd(12)} seed ${seed}: ${read} read, ${refused} refused, slowest ${slowest.toFixed(1)} ms, ${seconds} s`,
  );
}
