import { beta, halfNormal, negativeBinomial, normal, zeroInflated } from "diffeo/distribution";
import { add, log, mul } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { days, age }) => {
  const a = parameter("a", normal(0, 2));
  const b = parameter("b", normal(0, 1));
  const never = parameter("never", beta(1, 1));
  const dispersion = parameter("dispersion", halfNormal(5));
  const logMean = add(add(a, mul(b, age)), log(days));
  observe("visits", zeroInflated(never, negativeBinomial({ logMean, dispersion })));
});
