import { autoregression, halfCauchy, normal } from "diffeo/distribution";
import { slice } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { y }) => {
  const alpha = parameter("alpha", normal(0, 10));
  const beta = parameter("beta", normal(0, 10), { shape: 5 });
  const sigma = parameter("sigma", halfCauchy(2.5));
  const before = slice(y, [0, 5]);
  const length = y.shape[0] - 5;
  const rest = { length, coefficients: beta, sd: sigma, intercept: alpha, before };
  observe("y", autoregression(rest), slice(y, [5, y.shape[0]]));
});
