/**
 * Rules that columns obey in all rows, found where the rows are evidence, or specified:
 *
 *   order    a ≤ b, a < b     a and the difference b − a are learned, b is their sum
 *   sum      a = b + c + …    the parts are learned; equal columns are a sum of one
 *   label    a = f(b)         b, a column of labels, is learned, and a goes with it
 *   pair     (a, b) of few    a label for each combination is learned, and a and b go with it
 *   only     a only where b   a is empty but in rows with some labels of b; both are learned
 *
 * A rule is evident if it holds in all rows and would not by chance, if columns were independent.
 */
import type { Inferred } from "./inferred.ts";

/** A rule that columns obey. */
export type Relation =
  | {
      readonly kind: "order";
      readonly low: string;
      readonly high: string;
      /** Whether equal values are excluded: a < b. */
      readonly isStrict?: boolean;
    }
  | { readonly kind: "sum"; readonly total: string; readonly parts: readonly string[] }
  | { readonly kind: "label"; readonly of: string; readonly column: string }
  | { readonly kind: "pair"; readonly columns: readonly [string, string] }
  | { readonly kind: "only"; readonly column: string; readonly by: string };

/** What columns are without the rules. */
export type Recognised = ReadonlyMap<string, Inferred>;

/** The columns of a relation. */
export function columnsOfRelation(relation: Relation): readonly string[] {
  switch (relation.kind) {
    case "order":
      return [relation.low, relation.high];
    case "sum":
      return [relation.total, ...relation.parts];
    case "label":
      return [relation.of, relation.column];
    case "pair":
      return relation.columns;
    case "only":
      return [relation.column, relation.by];
  }
}
