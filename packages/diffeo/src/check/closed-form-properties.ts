/**
 * Every closed form must agree with automatic differentiation of φ, φ⁻¹ and log|det J|: one
 * property per closed form, or one per kind of argument. The record must have an entry for every
 * closed form of maps, else it does not compile.
 */
import {
  type Bijector,
  type ClosedForm,
  contains,
  gradLogDet,
  itoTrace,
  pullCovector,
  pullItoTrace,
  pullVector,
  pushCovector,
  pushVector,
  timeDerivative,
  withoutClosedForms,
} from "../bijector/index.ts";
import { add, cast, mul, type Tensor } from "../graph/index.ts";
import type { Probe, Property } from "./property.ts";

interface Form {
  /** Its name in a report. */
  readonly symbol: string;
  /** The closed form if the map has one, else automatic differentiation. */
  readonly of: (phi: Bijector, probe: Probe) => Tensor;
  /**
   * Whether automatic differentiation is an accurate reference at large |x|. It is not through φ⁻¹.
   */
  readonly hard?: boolean;
}

/** One form for each kind of diffusion coefficient. */
const ofDiffusion = (
  symbol: string,
  f: typeof itoTrace,
  more: Pick<Form, "hard"> = {},
): readonly Form[] =>
  (["scalar", "diagonal", "matrix"] as const).map((kind) => ({
    symbol: `${symbol}, ${kind} G`,
    of: (phi, probe) => f(phi, probe.x, probe[kind], probe.t),
    ...more,
  }));

const forms: Readonly<Record<ClosedForm, readonly Form[]>> = {
  pushVector: [{ symbol: "J v", of: (phi, { x, v, t }) => pushVector(phi, x, v, t), hard: true }],
  pullCovector: [
    { symbol: "Jᵀu", of: (phi, { x, w, t }) => pullCovector(phi, x, w, t), hard: true },
  ],
  pullVector: [{ symbol: "J⁻¹v", of: (phi, { x, w, t }) => pullVector(phi, x, w, t) }],
  pushCovector: [{ symbol: "J⁻ᵀu", of: (phi, { x, s, t }) => pushCovector(phi, x, s, t) }],
  gradLogDet: [
    { symbol: "∇ log|det J|", of: (phi, { x, t }) => gradLogDet(phi, x, t), hard: true },
  ],
  itoTrace: ofDiffusion("Tr[GᵀHG]", itoTrace, { hard: true }),
  pullItoTrace: ofDiffusion("J⁻¹Tr[GᵀHG]", pullItoTrace),
  timeDerivative: [{ symbol: "∂ₜφ", of: (phi, { x, t }) => timeDerivative(phi, x, t), hard: true }],
  // Points around the image, some of them outside; another property checks that φ(x) is inside.
  contains: [
    {
      symbol: "y in the image",
      of: (phi, { x, w, t }) => cast(contains(phi, add(phi.forward(x, t), mul(w, 2)), t), x.dtype),
    },
  ],
};

export const closedFormProperties: readonly Property[] = Object.entries(forms).flatMap(
  ([part, list]) =>
    list.map(
      ({ symbol, of, hard = false }): Property => ({
        name: `${symbol}: closed form = autodiff`,
        of: part as ClosedForm,
        applies: (phi) =>
          phi[part as ClosedForm] !== undefined &&
          (part !== "timeDerivative" || phi.timeDependent === true),
        sides: (phi, probe) => [of(phi, probe), of(withoutClosedForms(phi), probe)],
        tolerance: part === "contains" ? 0 : 1e-9,
        floor: part === "contains" ? 1 : 1e-12,
        hard,
        remedy: `the map's own ${part} disagrees with its forward, inverse and logDet`,
      }),
    ),
);
