import { gamma, halfNormal, normal, studentT } from "diffeo/distribution";
import { add, mul } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { height }) => {
  const a = parameter("a", normal(60, 20));
  const b = parameter("b", normal(0, 5));
  const sigma = parameter("sigma", halfNormal(10));
  const nu = parameter("nu", gamma(2, 0.1));
  observe("weight", studentT(nu, add(a, mul(b, height)), sigma));
});
