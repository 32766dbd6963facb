import { normal } from "diffeo/distribution";
import { positive, real } from "diffeo/domain";
import { columns, log, matvec } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { earn, height, male }) => {
  const beta = parameter("beta", real(), { shape: 3 });
  const sigma = parameter("sigma", positive());
  observe("log earn", normal(matvec(columns(1, height, male), beta), sigma), log(earn));
});
