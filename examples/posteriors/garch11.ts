import { normal } from "diffeo/distribution";
import { between, positive, real } from "diffeo/domain";
import {
  add,
  concat,
  expandDims,
  linearRecurrence,
  mul,
  slice,
  sqrt,
  square,
  sub,
} from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { y, sigma1 }) => {
  const mu = parameter("mu", real());
  const alpha0 = parameter("alpha0", positive());
  const alpha1 = parameter("alpha1", between(0, 1));
  const beta1 = parameter("beta1", { above: 0, below: sub(1, alpha1) });
  const shock = add(alpha0, mul(alpha1, square(sub(slice(y, [0, -1]), mu))));
  const variance = linearRecurrence(beta1, concat([expandDims(square(sigma1), 0), shock]));
  observe("y", normal(mu, sqrt(variance)));
});
