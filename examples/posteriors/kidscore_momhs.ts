import { halfCauchy, normal } from "diffeo/distribution";
import { real } from "diffeo/domain";
import { columns, matvec } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { mom_hs }) => {
  const beta = parameter("beta", real(), { shape: 2 });
  const sigma = parameter("sigma", halfCauchy(2.5));
  observe("kid_score", normal(matvec(columns(1, mom_hs), beta), sigma));
});
