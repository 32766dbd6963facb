/**
 * What the columns of all rules between columns need: names, domains, and the error of a row that
 * breaks one.
 */

import type { Domain } from "diffeo/domain";
import { fail } from "diffeo/graph";
import type { CellTable } from "../../table/cells.ts";
import { quote } from "../../table/quote.ts";
import type { Recognised } from "./relations.ts";

/** A name that no column has. */
export const freeName = (name: string, { columns }: CellTable): string =>
  columns.includes(name) ? freeName(`${name}'`, { columns } as CellTable) : name;

/** The domain of a column of a relation. */
export function domainIn(name: string, recognised: Recognised): Domain {
  const { domain, kind } = recognised.get(name) ?? {};
  return (
    domain ??
    fail(
      "usage",
      `${quote(name)} is ${kind ?? "no column"}: no rule can be about it`,
      "leave it out",
    )
  );
}

/** Says where a rule that was specified does not hold. */
export const broken = (
  table: CellTable,
  row: number,
  what: string,
  remedy = "fix or drop the row, or leave the rule out",
): never => fail("data", `${table.source}, line ${table.lines[row]}: ${what}`, remedy);
