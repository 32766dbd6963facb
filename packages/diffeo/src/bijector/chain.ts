/**
 * The composition φ = φ_k ∘ … ∘ φ₁. With x₀ = x and xᵢ = φᵢ(xᵢ₋₁):
 *
 *   J = J_k ⋯ J₁     log|det J| = Σ log|det Jᵢ|(xᵢ₋₁)     ∇(ℓ₁ + ℓ₂∘φ₁) = ∇ℓ₁ + J₁ᵀ∇ℓ₂
 *   D²(φ₂∘φ₁)[g, g] = D²φ₂[J₁g, J₁g] + J₂ D²φ₁[g, g]     ∂ₜ(φ₂∘φ₁) = ∂ₜφ₂ + J₂ ∂ₜφ₁
 *
 * Only the last map may be an embedding. A map after it would act on an image of lower dimension,
 * where log|det J₂| is not the volume factor.
 */
import { add, addAll, fail, logicalAnd, showShape, type Tensor } from "../graph/index.ts";
import { sameShape } from "../graph/ndarray.ts";
import type { Bijector } from "./bijector.ts";
import {
  contains,
  gradLogDet,
  itoTrace,
  pullCovector,
  pullItoTrace,
  pullVector,
  pushCovector,
  pushDiffusion,
  pushVector,
  timeDerivative,
} from "./derive.ts";
import { eventOf } from "./event.ts";

/** A map of a chain with the point it acts on. */
interface Link {
  readonly phi: Bijector;
  readonly x: Tensor;
}

/** The points at which the maps act, forward and backward. */
interface Path {
  readonly links: (x: Tensor, t?: Tensor) => readonly Link[];
  readonly forward: (x: Tensor, t?: Tensor) => Tensor;
  /** The inverse of one map at a point. */
  readonly back: (i: number, y: Tensor, t?: Tensor) => Tensor;
}

const times = (phi: Bijector, t?: Tensor): Tensor | undefined =>
  phi.timeDependent ? t : undefined;

/** Throws if a map follows an embedding, because its log|det J| does not hold on the image. */
function requireSameEvent(phi: Bijector, x: Tensor, y: Tensor): void {
  const [from, to] = [eventOf(x, phi.eventRank), eventOf(y, phi.eventRank)];
  if (!sameShape(from, to))
    fail(
      "shape",
      `chain: "${phi.name}" maps events of shape ${showShape(from)} to ${showShape(to)} and ` +
        "is not the last map",
      "put the map that changes the number of coordinates last",
    );
}

function pathOf(maps: readonly Bijector[]): Path {
  const last = maps.length - 1;
  const links = (x: Tensor, t?: Tensor): Link[] => {
    let point = x;
    return maps.map((phi, i) => {
      const here = { phi, x: point };
      if (i === last) return here;
      point = phi.forward(point, times(phi, t));
      requireSameEvent(phi, here.x, point);
      return here;
    });
  };
  return {
    links,
    forward: (x, t) => {
      const end = links(x, t)[last];
      return end.phi.forward(end.x, times(end.phi, t));
    },
    back: (i, y, t) => {
      const x = maps[i].inverse(y, times(maps[i], t));
      if (i < last) requireSameEvent(maps[i], x, y);
      return x;
    },
  };
}

/** J v, Jᵀu, J⁻¹v, J⁻ᵀu and ∇ log|det J|. */
const firstOrder = ({
  links,
}: Path): Pick<
  Bijector,
  "pushVector" | "pushCovector" | "pullVector" | "pullCovector" | "gradLogDet"
> => ({
  pushVector: (x, v, t) => links(x, t).reduce((w, { phi, x: at }) => pushVector(phi, at, w, t), v),
  pushCovector: (x, u, t) =>
    links(x, t).reduce((w, { phi, x: at }) => pushCovector(phi, at, w, t), u),
  pullVector: (x, v, t) =>
    links(x, t).reduceRight((w, { phi, x: at }) => pullVector(phi, at, w, t), v),
  pullCovector: (x, u, t) =>
    links(x, t).reduceRight((w, { phi, x: at }) => pullCovector(phi, at, w, t), u),
  gradLogDet: (x, t) =>
    links(x, t).reduceRight<Tensor | undefined>((later, { phi, x: at }) => {
      const own = gradLogDet(phi, at, t);
      return later ? add(own, pullCovector(phi, at, later, t)) : own;
    }, undefined) as Tensor,
});

/** The Itô terms. */
const secondOrder = (
  { links }: Path,
  count: number,
): Pick<Bijector, "itoTrace" | "pullItoTrace"> => ({
  itoTrace: (x, diffusion, t) => {
    let g = diffusion;
    return links(x, t).reduce<Tensor | undefined>((earlier, { phi, x: at }, i) => {
      const own = itoTrace(phi, at, g, t);
      if (i < count - 1) g = pushDiffusion(phi, at, g, t);
      return earlier ? add(own, pushVector(phi, at, earlier, t)) : own;
    }, undefined) as Tensor;
  },
  // With P = J⁻¹Tr[GᵀHG] the same line reads P = P₁ + J₁⁻¹P₂.
  pullItoTrace: (x, diffusion, t) => {
    let g = diffusion;
    return links(x, t)
      .map(({ phi, x: at }, i) => {
        const own = pullItoTrace(phi, at, g, t);
        if (i < count - 1) g = pushDiffusion(phi, at, g, t);
        return { phi, at, own };
      })
      .reduceRight<Tensor | undefined>(
        (later, { phi, at, own }) => (later ? add(own, pullVector(phi, at, later, t)) : own),
        undefined,
      ) as Tensor;
  },
});

/**
 * The composition of maps; the first argument is applied first.
 *
 * @throws DiffeoError of kind `usage` if there are no maps, and of kind `shape` if their event
 * ranks differ. Only the last map may change the number of coordinates; otherwise the functions of
 * the chain throw an error of kind `shape`
 */
export function chain(...maps: readonly Bijector[]): Bijector {
  if (maps.length === 0)
    fail("usage", "chain: no maps", "give at least one; the first is applied first");
  const { eventRank } = maps[0];
  const odd = maps.find((phi) => phi.eventRank !== eventRank);
  if (odd)
    fail(
      "shape",
      `chain: "${maps[0].name}" acts on events of ${eventRank} axes, "${odd.name}" on ` +
        `${odd.eventRank}`,
      "give them the same event rank with each",
    );
  const path = pathOf(maps);
  const { links, back } = path;
  return {
    name: maps.map((phi) => phi.name).join(" → "),
    eventRank,
    timeDependent: maps.some((phi) => phi.timeDependent),
    coordinatewise: maps.every((phi) => phi.coordinatewise),
    forward: path.forward,
    inverse: (y, t) => maps.reduceRight((point, _, i) => back(i, point, t), y),
    logDet: (x, t) => addAll(links(x, t).map(({ phi, x: at }) => phi.logDet(at, times(phi, t)))),
    ...firstOrder(path),
    ...secondOrder(path, maps.length),
    timeDerivative: (x, t) =>
      links(x, t).reduce<Tensor | undefined>((earlier, { phi, x: at }) => {
        const moved = earlier && pushVector(phi, at, earlier, t);
        if (!phi.timeDependent) return moved;
        const own = timeDerivative(phi, at, t);
        return moved ? add(own, moved) : own;
      }, undefined) as Tensor,
    contains: (y, t) => {
      let point = y;
      return maps.reduceRight<Tensor | undefined>((inside, phi, i) => {
        const here = contains(phi, point, t);
        point = back(i, point, t);
        return inside ? logicalAnd(inside, here) : here;
      }, undefined) as Tensor;
    },
  };
}
