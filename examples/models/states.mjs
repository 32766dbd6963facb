import {
  dirichlet,
  halfNormal,
  hiddenMarkov,
  normal,
  stateProbabilities,
} from "diffeo/distribution";
import { ordered } from "diffeo/domain";
import { at } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe, derive }, { y }) => {
  const transition = parameter("transition", dirichlet([2, 2]), { shape: 2 });
  const mu = parameter("mu", normal(0, 5), { domain: ordered(2) });
  const sigma = parameter("sigma", halfNormal(2));
  const chain = { transition, emission: normal(mu, sigma), length: y.shape[0] };
  observe("y", hiddenMarkov(chain));
  derive("high", at(stateProbabilities(chain, y), 1, 1));
});
