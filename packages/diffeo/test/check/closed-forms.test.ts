/**
 * Every closed form of every map with each common mistake: the property of that form catches it.
 */
import { describe, expect, it } from "vitest";
import {
  type Bijector,
  blocks,
  type ClosedForm,
  catalogue,
  chain,
  identity,
  invert,
  type MapEntry,
  sigmoidMap,
  stickBreaking,
  timeAffine,
  unitBall,
  whereMask,
} from "../../src/bijector/index.ts";
import { checkMap, mapProperties, type Property } from "../../src/check/index.ts";
import { directions, evaluateAt } from "../../src/check/probe.ts";
import {
  add,
  cos,
  exp,
  flip,
  logicalNot,
  logicalOr,
  mul,
  neg,
  type Tensor,
  toFloat64,
} from "../../src/graph/index.ts";
import { key, normal } from "../../src/random/index.ts";

/** Formulas are wrong or right on any device; this one opens the many graphs sooner. */
const device = "reference";
/**
 * Two points show it, none of them far out: nothing is looked at there where x comes of another
 * map.
 */
const few = { device, count: 2, from: identity() };
const moving = timeAffine({ scale: (t) => exp(mul(t, 0.3)), shift: (t) => cos(t) });
const onR = "Rⁿ";
/**
 * Compositions that the catalogue has no need of: of maps that depend on time, and of maps with
 * closed forms.
 */
const composed: readonly MapEntry[] = [
  { name: "inverse-time", map: invert(moving), event: [3], domain: onR },
  { name: "inverse-ball", map: invert(unitBall()), event: [3], domain: onR, from: unitBall() },
  {
    name: "inverse-stick",
    map: invert(stickBreaking()),
    event: [3],
    domain: onR,
    from: stickBreaking(),
  },
  {
    name: "blocks-time",
    map: blocks([
      { map: chain(moving, unitBall()), size: 2 },
      { map: stickBreaking(), size: 2 },
      { map: moving, size: 1 },
    ]),
    event: [5],
    domain: onR,
  },
  { name: "chain-time", map: chain(moving, sigmoidMap(-1, 2), moving), event: [2], domain: onR },
  { name: "where-time", map: whereMask([0, 1, 1], moving, sigmoidMap()), event: [3], domain: onR },
];
const maps = [...catalogue, ...composed];

type Form = (...args: never[]) => Tensor;
const formsOf = (phi: Bijector): ClosedForm[] => {
  const held = new Set(mapProperties.flatMap((property) => property.of ?? []));
  return [...held].filter(
    (form) => phi[form] !== undefined && (form !== "timeDerivative" || phi.timeDependent),
  );
};
/** Three mistakes of a number, and the mistakes of `contains`. */
const mistakes: readonly {
  what: string;
  wrong: (y: Tensor) => Tensor;
  inside?: (y: Tensor) => Tensor;
}[] = [
  { what: "scaled by 1 + 1e-6", wrong: (y) => mul(y, 1 + 1e-6), inside: logicalNot },
  { what: "of the wrong sign", wrong: neg, inside: (y) => logicalOr(y, logicalNot(y)) },
  { what: "with its entries in another order", wrong: (y) => flip(y, [-1]) },
];

/** φ with a mistake after every closed form. */
const spoilt = (phi: Bijector, { wrong, inside }: (typeof mistakes)[number]): Bijector => ({
  ...phi,
  ...Object.fromEntries(
    formsOf(phi).map((form) => {
      const right = phi[form] as unknown as Form;
      return [
        form,
        (...args: never[]) =>
          (form === "contains" ? (inside ?? ((y) => y)) : wrong)(right(...args)),
      ];
    }),
  ),
});

/**
 * For each wrong map, the properties of the closed forms whose values changed: 0 times a factor is
 * still 0.
 */
async function changed(
  { map, event, from }: MapEntry,
  wrong: readonly Bijector[],
  own: readonly Property[],
): Promise<Property[][]> {
  const random = directions(map, event, 8, key("directions"));
  const points = normal(key("points"), [8, ...event], { dtype: "float64" });
  const sides = (phi: Bijector, probe: Parameters<Property["sides"]>[1]) =>
    own.map((property) => property.sides(phi, probe)[0]);
  const [{ result }] = await evaluateAt(
    map,
    from,
    random,
    { device, type: "float64" },
    [points],
    (probe) => ({
      right: sides(map, probe),
      wrong: wrong.map((phi) => sides(phi, probe)),
    }),
  );
  return result.wrong.map((found) =>
    own.filter((_, i) => {
      const [a, b] = [result.right[i], found[i]].map(({ data }) => toFloat64(data));
      return a.some((v, k) => v !== b[k]);
    }),
  );
}

describe("a composition has every property", () => {
  it.each(composed)("$name", async ({ map, event, from }) => {
    const report = await checkMap(map, { device, count: 4, event, from });
    expect(report.properties.filter((property) => !property.pass)).toEqual([]);
  });
});

describe("a wrong closed form does not pass", () => {
  it("for every form: each is used by some map", () => {
    const all = new Set(mapProperties.flatMap((property) => property.of ?? []));
    expect([...new Set(maps.flatMap(({ map }) => formsOf(map)))].sort()).toEqual([...all].sort());
  });

  it("lets maps omit only the closed forms listed here, whose autodiff is accurate at a boundary", () => {
    const all = [...new Set(mapProperties.flatMap((property) => property.of ?? []))].filter(
      (form) => form !== "contains",
    );
    const derived: Readonly<Record<string, readonly ClosedForm[]>> = {
      correlationMap: ["pushVector", "pullCovector", "itoTrace", "pullItoTrace"],
      affineCoupling: all,
      affineCouplingMask: all,
      timeAffine: ["timeDerivative"],
    };
    for (const { name, map } of maps) {
      const own = formsOf(map);
      const open = all.filter(
        (form) => !own.includes(form) && (form !== "timeDerivative" || map.timeDependent),
      );
      expect(new Set(open), name).toEqual(
        new Set(derived[name]?.filter((form) => form !== "timeDerivative" || map.timeDependent)),
      );
    }
  });

  for (const entry of maps) {
    const { name, map, event, from } = entry;
    const forms = formsOf(map);
    const own = mapProperties.filter((property) => property.of && property.applies?.(map, false));
    if (forms.length > 0)
      it(`${name}: ${forms.join(", ")}`, async () => {
        const bad = mistakes.map((mistake) => spoilt(map, mistake));
        const differ = await changed(entry, bad, own);
        for (const [i, mistake] of mistakes.entries()) {
          const really = differ[i];
          const report = await checkMap(bad[i], { ...few, event, ...(from && { from }) });
          const failed = report.properties
            .filter((property) => !property.pass)
            .map((property) => property.name);
          expect(failed, mistake.what).toEqual(
            expect.arrayContaining(really.map((property) => property.name)),
          );
          // A wrong sign shows wherever there is anything at all: in J v, Jᵀu, J⁻¹v and J⁻ᵀu
          // always.
          if (mistake.wrong === neg) expect(really.length).toBeGreaterThanOrEqual(4);
        }
      });
  }

  it("also if it is wrong for a single kind of diffusion coefficient", async () => {
    for (const { map, event } of catalogue.filter((e) =>
      ["additiveLogistic", "unitBall", "stickBreaking"].includes(e.name),
    ))
      for (const form of ["itoTrace", "pullItoTrace"] as const)
        for (const kind of ["scalar", "diagonal", "matrix"] as const) {
          const right = map[form] as NonNullable<Bijector[typeof form]>;
          const wrong: typeof right = (x, g, t) =>
            g.kind === kind ? add(right(x, g, t), 1e-6) : right(x, g, t);
          const { properties: found } = await checkMap(
            { ...map, [form]: wrong },
            { ...few, event },
          );
          const failed = found.filter(
            (property) =>
              !property.pass && /^[^|].* G: closed form = autodiff$/.test(property.name),
          );
          const symbol = form === "itoTrace" ? "Tr[GᵀHG]" : "J⁻¹Tr[GᵀHG]";
          expect(failed.map((property) => property.name)).toEqual([
            `${symbol}, ${kind} G: closed form = autodiff`,
          ]);
        }
  });
});
