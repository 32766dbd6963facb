import { normal } from "diffeo/distribution";
import { positive, real } from "diffeo/domain";
import { columns, equal, matvec } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, data) => {
  const { real_ideo, race_adj, age_discrete, educ1, gender, income } = data;
  const beta = parameter("beta", real(), { shape: 9 });
  const sigma = parameter("sigma", positive());
  const aged = (k: number) => equal(age_discrete, k);
  const X = columns(1, real_ideo, race_adj, aged(2), aged(3), aged(4), educ1, gender, income);
  observe("partyid7", normal(matvec(X, beta), sigma));
});
