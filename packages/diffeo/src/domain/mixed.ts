/**
 * Numbers that are often one of a few values, the atoms: a label, which is an atom or "other", and
 * a number for the others. x is the code of the label followed by the normal score of the number
 * (`empirical.ts`). An atom has no number; its score is that of the noise u:
 *
 *   y = (code of a, Φ⁻¹(u))        P(a) = ∫ q(a, y) dy = E_u q(a, y)/φ(y)
 *   y = (code of other, Φ⁻¹(F(v)))   q(v) = q(other, y) f(v)/φ(y)
 */
import { blocks } from "../bijector/index.ts";
import { add, constant, fail, mul, slice, sub, sum, type Tensor } from "../graph/index.ts";
import { normalPoint } from "../host/index.ts";
import { type Cell, type Domain, domain } from "./domain.ts";
import { category } from "./simplex.ts";
import type { MixedSpec } from "./spec.ts";

/** The label of numbers that are not atoms. */
export const OTHER = "other";

/** The label of a number. */
export const mixedLabel = (atoms: readonly number[], cell: Cell): Cell =>
  atoms.includes(cell as number) ? cell : OTHER;

/** log √2π + z²/2 */
const minusLogNormal = (z: number): number => (z * z + Math.log(2 * Math.PI)) / 2;

/**
 * The domain of numbers that are often one of `atoms`, and otherwise in `other`, a domain made by
 * `empirical`.
 */
export function mixed(atoms: readonly number[], other: Domain): Domain {
  const { spec } = other;
  if (spec?.kind !== "empirical")
    return fail(
      "usage",
      `mixed: \`other\` is of kind ${other.kind}`,
      "give a domain made by empirical",
    );
  if (atoms.length === 0 || !atoms.every(Number.isFinite))
    fail(
      "usage",
      `mixed: \`atoms\` are ${atoms.join(", ") || "empty"}`,
      "give at least one finite number",
    );
  const labels = category([...atoms, OTHER]);
  const k = labels.dimension;
  const isAtom = (cell: Cell): boolean => atoms.includes(cell as number);
  return domain({
    kind: "mixed",
    spec: { kind: "mixed", atoms: [...atoms], other: spec } satisfies MixedSpec,
    map: blocks([
      { map: labels.map, size: k },
      { map: other.map, size: 1 },
    ]),
    dimension: k + 1,
    cells: 1,
    noise: 1,
    codes: labels.codes,
    fault: () => undefined,
    faultOfCells: (cells) => (isAtom(cells[0]) ? undefined : other.fault(cells)),
    encode: ([cell], u) => [
      ...labels.encode([mixedLabel(atoms, cell)], []),
      ...(isAtom(cell) ? [normalPoint(u[0], 1 - u[0])] : other.encode([cell], u)),
    ],
    decode: (y) => {
      const own = Array.from(y);
      const [label] = labels.decode(own.slice(0, k));
      return label === OTHER ? other.decode(own.slice(k)) : [label];
    },
    logUnitOf: (cells, x) =>
      isAtom(cells[0]) ? minusLogNormal(x[k]) : (other.logUnitOf?.(cells, [x[k]]) ?? other.logUnit),
    values: (y) => expected(y, atoms, other),
  });
}

/** The mean of the atoms and the other number, weighted by the shares of the labels. */
function expected(y: Tensor, atoms: readonly number[], other: Domain): Tensor {
  const k = atoms.length;
  const part = (from: number, to: number): Tensor =>
    slice(y, ...y.shape.slice(1).map(() => null), [from, to]);
  const shares = part(0, k);
  const left = sub(1, sum(shares, -1, { keepDims: true }));
  const number = (other.values as (y: Tensor) => Tensor)(part(k, k + 1));
  const masses = sum(mul(shares, constant(atoms, y.dtype)), -1, { keepDims: true });
  return add(masses, mul(left, number));
}
