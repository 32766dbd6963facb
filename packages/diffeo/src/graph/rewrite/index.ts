/** All rewrite rules that are not part of a primitive, by the primitive to which they apply. */
import type { Primitive } from "../tensor.ts";
import { attentions } from "./attention.ts";
import { convolutions } from "./conv.ts";
import { products } from "./gemm.ts";
import { identities } from "./identities.ts";
import type { Identity, Lowering } from "./rule.ts";
import { runtimes } from "./runtimes.ts";
import { sums } from "./sums.ts";
import { turns } from "./turn.ts";

export const identityOf: ReadonlyMap<Primitive, Identity> = new Map(
  identities.map(([{ op }, rule]) => [op, rule]),
);

export const loweringOf: ReadonlyMap<Primitive, Lowering> = new Map(
  [...products, ...sums, ...convolutions, ...attentions, ...turns, ...runtimes].map(
    ([{ op }, rule]) => [op, rule],
  ),
);
