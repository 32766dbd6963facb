import { logNormal, normal } from "diffeo/distribution";
import { positive } from "diffeo/domain";
import { at, columns, log, mul, solveOde, sub, type Tensor } from "diffeo/graph";
import { model } from "diffeo/mcmc";

export default model(({ parameter, observe }, { ts }) => {
  const theta = parameter("theta", normal([1, 0.05, 1, 0.05], [0.5, 0.05, 0.5, 0.05]), {
    domain: positive(),
  });
  const z_init = parameter("z_init", logNormal(Math.log(10), 1), { shape: 2 });
  const sigma = parameter("sigma", logNormal(-1, 1), { shape: 2 });
  const [a, b, c, d] = [0, 1, 2, 3].map((k) => at(theta, k));
  const slope = (_: Tensor, [u, v]: readonly Tensor[]) => [
    mul(sub(a, mul(b, v)), u),
    mul(sub(mul(d, u), c), v),
  ];
  const z = columns(...solveOde(slope, [at(z_init, 0), at(z_init, 1)], ts));
  observe("y_init", logNormal(log(z_init), sigma));
  observe("y", logNormal(log(z), sigma));
});
