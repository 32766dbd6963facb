import { normal } from "diffeo/distribution";
import { positive, real } from "diffeo/domain";
import { columns, div, log, matvec, mul } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, data) => {
  const { weight, diam1, diam2, canopy_height, total_height, group } = data;
  const beta = parameter("beta", real(), { shape: 6 });
  const sigma = parameter("sigma", positive());
  const area = mul(diam1, diam2);
  const [volume, shape] = [mul(area, canopy_height), div(diam1, diam2)];
  const X = columns(1, log(volume), log(area), log(shape), log(total_height), group);
  observe("log weight", normal(matvec(X, beta), sigma), log(weight));
});
