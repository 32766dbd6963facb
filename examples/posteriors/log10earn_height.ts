import { normal } from "diffeo/distribution";
import { positive, real } from "diffeo/domain";
import { columns, log, matvec, mul } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { earn, height }) => {
  const beta = parameter("beta", real(), { shape: 2 });
  const sigma = parameter("sigma", positive());
  const log10 = mul(log(earn), Math.LOG10E);
  observe("log10 earn", normal(matvec(columns(1, height), beta), sigma), log10);
});
