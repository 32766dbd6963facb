/**
 * A custom map consists of three functions. Everything else is derived, and `checkMap` checks it.
 */
import { bijector } from "diffeo/bijector";
import { checkMap, processProperties } from "diffeo/check";
import { gaussian } from "diffeo/distribution";
import { evaluate } from "diffeo/engine";
import { add, div, log, mul, square, sub, sum, type Tensor, toFloat64 } from "diffeo/graph";
import { pushedScore } from "diffeo/score";

// y = x³ + x on each coordinate. Its inverse is a root, found by Newton's method. Any smooth
// invertible map can be used.
const cube = (x: Tensor): Tensor => add(mul(square(x), x), x);
const slope = (x: Tensor): Tensor => add(mul(square(x), 3), 1);

const map = bijector({
  name: "cube",
  eventRank: 1,
  forward: cube,
  inverse: (y) => {
    let x = y;
    for (let i = 0; i < 30; i++) x = sub(x, div(sub(cube(x), y), slope(x)));
    return x;
  },
  logDet: (x) => sum(log(slope(x)), -1),
});

const report = await checkMap(map, { event: [2], extreme: 5, more: processProperties });
console.log(
  `${report.map}: ${report.pass ? "all properties hold" : "some properties fail"}, ${report.properties.length} checked`,
);
for (const { name, worst, pass } of report.properties)
  if (!pass) console.log(`  ${name}: ${worst}`);

// The score of φ(X) for a Gaussian X, at two points of y.
const normal = gaussian({ mean: [0, 0], covariance: 1 });
const scores = await evaluate(
  (y: Tensor) => pushedScore(map, normal.score)(y),
  [
    [0.5, -1],
    [10, 0],
  ],
);
console.log("score in y:", Array.from(toFloat64(scores.data), (v) => v.toFixed(4)).join(", "));
