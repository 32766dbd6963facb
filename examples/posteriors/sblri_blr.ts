import { halfNormal, normal } from "diffeo/distribution";
import { matvec } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { X, D }) => {
  const beta = parameter("beta", normal(0, 10), { shape: D });
  const sigma = parameter("sigma", halfNormal(10));
  observe("y", normal(matvec(X, beta), sigma));
});
