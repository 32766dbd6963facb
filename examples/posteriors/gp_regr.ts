import { gamma, gaussianProcess, halfNormal, squaredExponential } from "diffeo/distribution";
import { sqrt } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { x }) => {
  const rho = parameter("rho", gamma(25, 4));
  const alpha = parameter("alpha", halfNormal(2));
  const sigma = parameter("sigma", halfNormal(1));
  const kernel = squaredExponential({ amplitude: alpha, scale: rho });
  observe("y", gaussianProcess({ x, kernel, noise: sqrt(sigma) }));
});
