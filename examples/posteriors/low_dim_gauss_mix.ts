import { beta, halfNormal, mixture, normal } from "diffeo/distribution";
import { ordered } from "diffeo/domain";
import { sub } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }) => {
  const mu = parameter("mu", normal(0, 2), { domain: ordered(2) });
  const sigma = parameter("sigma", halfNormal(2), { shape: 2 });
  const theta = parameter("theta", beta(5, 5));
  observe("y", mixture([theta, sub(1, theta)], normal(mu, sigma)));
});
