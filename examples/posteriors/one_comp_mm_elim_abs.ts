import { halfCauchy, logNormal } from "diffeo/distribution";
import { add, div, exp, log, mul, neg, solveOde, sub, type Tensor } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { times, D, V, t0 }) => {
  const k_a = parameter("k_a", halfCauchy(1));
  const K_m = parameter("K_m", halfCauchy(1));
  const V_m = parameter("V_m", halfCauchy(1));
  const sigma = parameter("sigma", halfCauchy(1));
  const slope = (t: Tensor, c: Tensor): Tensor => {
    const absorbed = mul(div(mul(D, k_a), V), exp(neg(mul(k_a, t))));
    return sub(absorbed, mul(div(V_m, V), div(c, add(K_m, c))));
  };
  const c = solveOde(slope, mul(k_a, 0), times, { start: t0 });
  observe("C_hat", logNormal(log(c), sigma));
});
