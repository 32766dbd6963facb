import { hiddenMarkov, normal } from "diffeo/distribution";
import { ordered, simplex } from "diffeo/domain";
import { stack } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { y }) => {
  const theta1 = parameter("theta1", simplex(2));
  const theta2 = parameter("theta2", simplex(2));
  const mu = parameter("mu", normal([3, 10], 1), { domain: ordered(2, { above: 0 }) });
  const transition = stack([theta1, theta2]);
  observe("y", hiddenMarkov({ transition, emission: normal(mu, 1), length: y.shape[0] }));
});
