import { normal } from "diffeo/distribution";
import { positive, real } from "diffeo/domain";
import { columns, matvec } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, data) => {
  const { diam1, diam2, canopy_height, total_height, density, group } = data;
  const beta = parameter("beta", real(), { shape: 7 });
  const sigma = parameter("sigma", positive());
  const X = columns(1, diam1, diam2, canopy_height, total_height, density, group);
  observe("weight", normal(matvec(X, beta), sigma));
});
