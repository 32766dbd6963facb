import { halfCauchy, normal } from "diffeo/distribution";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { sigma }) => {
  const mu = parameter("mu", normal(0, 5));
  const tau = parameter("tau", halfCauchy(5));
  const theta = parameter("theta", normal(mu, tau), { shape: 8, centred: false });
  observe("y", normal(theta, sigma));
});
