/** The density and the map that the reader chose or typed. */
import { banana, type Density, gaussian, mixture } from "diffeo/distribution";
import { at, grad, sum, type Tensor } from "diffeo/graph";
import { pushLogDensity, pushScore } from "diffeo/score";
import { type Expression, isMisread, type Misread, parseExpression } from "./expression.ts";
import { maps, type PlaneMap, plane } from "./maps.ts";
import type { DensityName, Field } from "./names.ts";
import { ownMap } from "./own-map.ts";
import type { RunRequest, Unread } from "./shapes.ts";

const densities: Readonly<Record<Exclude<DensityName, "own">, () => Density>> = {
  gaussian: () =>
    gaussian({
      mean: [0.3, -0.2],
      covariance: [
        [1, 0.55],
        [0.55, 0.7],
      ],
    }),
  mixture: () =>
    mixture([
      { weight: 1.2, distribution: gaussian({ mean: [1.15, 0.5], covariance: [0.32, 0.22] }) },
      { distribution: gaussian({ mean: [-1.1, 1.05], covariance: 0.24 }) },
      {
        distribution: gaussian({
          mean: [-0.45, -1.15],
          covariance: [
            [0.55, 0.16],
            [0.16, 0.2],
          ],
        }),
      },
    ]),
  banana: () => banana({ length: 1, bend: 0.55 }),
};

/** The density of a typed expression for log p, up to a constant. */
function typedDensity(expression: Expression): Density {
  const logDensity = (x: Tensor): Tensor =>
    expression.build({ x1: at(x, 0, -1), x2: at(x, 1, -1) });
  return { logDensity, score: (x) => grad((z: Tensor) => sum(logDensity(z)))(x) };
}

/** p on the domain of φ, which may be smaller than the plane. */
export function onDomain(density: Density, { from }: PlaneMap): Density {
  if (!from) return density;
  return {
    logDensity: (x) => {
      const z = from.inverse(x);
      return pushLogDensity(from, z, density.logDensity(z));
    },
    score: (x) => {
      const z = from.inverse(x);
      return pushScore(from, z, density.score(z));
    },
  };
}

/** The chosen density and map, or the errors of typed expressions that cannot be read. */
export function readChoice({
  density: name,
  map,
  typed,
}: RunRequest): { readonly density: Density; readonly map: PlaneMap } | Unread {
  const fields: Partial<Record<Field, Misread>> = {};
  const expression = (field: Field, names: readonly string[]): Expression => {
    const parsed = parseExpression(typed[field], names);
    if (!isMisread(parsed)) return parsed;
    fields[field] = parsed;
    return { build: (given) => Object.values(given)[0], value: () => 0 };
  };
  const density =
    name === "own" ? typedDensity(expression("logp", ["x1", "x2"])) : densities[name]();
  const typedMap = (): PlaneMap => {
    const back = typed.x1.trim() !== "" || typed.x2.trim() !== "";
    const forward = [expression("y1", ["x1", "x2"]), expression("y2", ["x1", "x2"])] as const;
    const inverse = back
      ? ([expression("x1", ["y1", "y2"]), expression("x2", ["y1", "y2"])] as const)
      : undefined;
    return { phi: ownMap(forward, inverse), image: plane };
  };
  const chosen = map === "own" ? typedMap() : maps[map]();
  return Object.keys(fields).length > 0 ? { kind: "unread", fields } : { density, map: chosen };
}
