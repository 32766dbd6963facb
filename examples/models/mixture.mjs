import { dirichlet, halfNormal, mixture, normal } from "diffeo/distribution";
import { ordered } from "diffeo/domain";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }) => {
  const share = parameter("share", dirichlet([2, 2]));
  const mu = parameter("mu", normal(0, 10), { domain: ordered(2) });
  const sigma = parameter("sigma", halfNormal(2), { shape: 2 });
  observe("length", mixture(share, normal(mu, sigma)));
});
