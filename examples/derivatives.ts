/** Tensors are expressions: build one, differentiate it any number of times, and run it. */
import { compile, evaluate } from "diffeo/engine";
import { exp, gradEach, laplacian, mul, squaredNorm, type Tensor, toFloat64 } from "diffeo/graph";

// log of an unnormalised Gaussian, for points [..., n]; the last axis is the event, the axes before
// it are the batch.
const logDensity = (x: Tensor): Tensor => mul(squaredNorm(x), -0.5);

// Its score, and Δ exp(log p), with second derivatives of an expression.
const score = gradEach(logDensity);
const curvature = (x: Tensor): Tensor => laplacian((y) => exp(logDensity(y)), x);

// Once, in float64:
console.log("score at (1, 2):", toFloat64((await evaluate(score, [[1, 2]])).data).join(", "));

// Many times: the function is traced and compiled at the first call, and again only for new shapes.
const f = compile((x: Tensor) => ({ score: score(x), curvature: curvature(x) }), [[null, 2]], {
  threads: 1,
});
const result = await f([
  [0, 0],
  [1, 1],
]);
console.log("Δp:", toFloat64(result.curvature.data).join(", ")); // n = 2: (‖x‖² − n) exp(−‖x‖²/2)
await f.dispose();
