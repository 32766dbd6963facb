import {
  gaussianProcess,
  gaussianProcessPrediction,
  halfNormal,
  inverseGamma,
  squaredExponential,
} from "diffeo/distribution";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe, derive }, { x, y, at }) => {
  const amplitude = parameter("amplitude", halfNormal(2));
  const scale = parameter("scale", inverseGamma(5, 5));
  const noise = parameter("noise", halfNormal(1));
  const kernel = squaredExponential({ amplitude, scale });
  observe("y", gaussianProcess({ x, kernel, noise }));
  derive("f", gaussianProcessPrediction({ x, y, at, kernel, noise }).mean());
});
