/** Domains from their specs in files. */
import * as v from "valibot";
import { fail } from "../graph/index.ts";
import { bent } from "./bent.ts";
import { date } from "./date.ts";
import { derived } from "./derived.ts";
import type { Domain } from "./domain.ts";
import { empirical } from "./empirical.ts";
import { correlation, covariance } from "./matrix.ts";
import { mixed } from "./mixed.ts";
import { ordered } from "./ordered.ts";
import { product } from "./product.ts";
import { angle, ball, sphere } from "./round.ts";
import { between, integer, positive, real } from "./scalar.ts";
import { category, simplex } from "./simplex.ts";
import { type DomainSpec, domainSchema, type SingleSpec } from "./spec.ts";

function single(spec: SingleSpec): Domain {
  switch (spec.kind) {
    case "real":
      return real(spec.size, without(spec, "kind", "size"));
    case "between":
      return between(spec.low, spec.high, without(spec, "kind", "low", "high"));
    case "ball":
      return ball(spec.size, spec);
    case "sphere":
      return sphere(spec.size, spec);
    case "correlation":
      return correlation(spec.order);
    case "covariance":
      return covariance(spec.order);
    case "positive":
      return positive(without(spec, "kind"));
    case "integer":
      return integer(without(spec, "kind"));
    case "angle":
      return angle(without(spec, "kind"));
    case "simplex":
      return simplex(spec.parts, without(spec, "kind", "parts"));
    case "category":
      return category(spec.labels, without(spec, "kind", "labels"));
    case "ordered":
      return ordered(spec.parts, without(spec, "kind", "parts"));
    case "empirical":
      return empirical(without(spec, "kind"));
    case "date":
      return date(without(spec, "kind"));
    case "mixed":
      return mixed(spec.atoms, empirical(without(spec.other, "kind")));
    case "derived":
      return derived(single(spec.domain), spec.derivation);
    case "bent":
      return bent(single(spec.domain), spec.bend);
  }
}

const without = <T extends object, K extends keyof T>(
  value: T,
  ...keys: readonly K[]
): Omit<T, K> =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key as K))) as Omit<
    T,
    K
  >;

const made = (spec: DomainSpec): Domain =>
  spec.kind === "product"
    ? product(Object.fromEntries(spec.parts.map((part) => [part.name, single(part.domain)])))
    : single(spec);

/** Makes a domain from its spec, such as a value parsed from JSON.
 *
 * @param where the name of the value in errors */
export function domainOf(value: unknown, where = "the domain"): Domain {
  const found = v.safeParse(domainSchema, value);
  if (found.success) return made(found.output);
  const path = v.getDotPath(found.issues[0]);
  return fail(
    "data",
    `${where} is not a domain${path === null ? "" : `, at ${path.slice(0, 60)}`}`,
    'give the spec of a domain, such as { "kind": "positive" }',
  );
}
