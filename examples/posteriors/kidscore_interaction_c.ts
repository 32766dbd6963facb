import { normal } from "diffeo/distribution";
import { positive, real } from "diffeo/domain";
import { columns, matvec, mean, mul, sub } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { mom_hs, mom_iq }) => {
  const beta = parameter("beta", real(), { shape: 4 });
  const sigma = parameter("sigma", positive());
  const [h, q] = [sub(mom_hs, mean(mom_hs)), sub(mom_iq, mean(mom_iq))];
  observe("kid_score", normal(matvec(columns(1, h, q, mul(h, q)), beta), sigma));
});
