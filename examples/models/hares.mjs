import { halfNormal, logNormal } from "diffeo/distribution";
import { at, columns, log, mul, solveOde, sub } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { year }) => {
  const typical = [0.5, 0.03, 0.8, 0.03].map(Math.log);
  const rate = parameter("rate", logNormal(typical, 0.5));
  const start = parameter("start", logNormal(Math.log(20), 0.5), { shape: 2 });
  const sigma = parameter("sigma", halfNormal(1), { shape: 2 });
  const [a, b, c, d] = [0, 1, 2, 3].map((k) => at(rate, k));
  const states = solveOde(
    (_, [hare, lynx]) => [mul(hare, sub(a, mul(b, lynx))), mul(lynx, sub(mul(d, hare), c))],
    [at(start, 0), at(start, 1)],
    year,
  );
  observe("pelts", logNormal(log(columns(...states)), sigma));
});
