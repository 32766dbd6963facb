import { halfStudentT, inverseGamma, normal, studentT } from "diffeo/distribution";
import { add, exp, matvec, mul, sqrt, square, squeeze, type Tensor } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(
  ({ parameter, observe }, { Xgp_1, slambda_1, Xgp_sigma_1, slambda_sigma_1 }) => {
    const curve = (name: string, basis: Tensor, frequencies: Tensor, level: number): Tensor => {
      const intercept = parameter(`Intercept${name}`, studentT(3, level, name === "" ? 36 : 10));
      const a = parameter(`sdgp${name}_1`, halfStudentT(3, 36));
      const l = parameter(`lscale${name}_1`, inverseGamma(1.124909, 0.0177));
      const z = parameter(`zgp${name}_1`, normal(), { shape: basis.shape[1] });
      const power = mul(square(mul(squeeze(frequencies, 1), l)), -0.5);
      const spectrum = mul(mul(square(a), mul(l, Math.sqrt(2 * Math.PI))), exp(power));
      return add(intercept, matvec(basis, mul(sqrt(spectrum), z)));
    };
    const mean = curve("", Xgp_1, slambda_1, -13);
    const logScale = curve("_sigma", Xgp_sigma_1, slambda_sigma_1, 0);
    observe("Y", normal(mean, exp(logScale)));
  },
);
