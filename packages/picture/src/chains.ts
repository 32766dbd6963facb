/** Quantities with their chains, and the colours of chains. */
import { COLOURS, type LegendEntry } from "./chart.ts";

/** A scalar quantity of a posterior. */
export interface Quantity {
  readonly name: string;
  /** The draws of each chain. */
  readonly chains: readonly Float64Array[];
}

const palette = Object.values(COLOURS);
export const colourOf = (chain: number): string => palette[chain % palette.length];

/** The legend of the chains; empty if there are more chains than colours. */
export const legendOf = (count: number): LegendEntry[] =>
  count > palette.length
    ? []
    : Array.from({ length: count }, (_, c) => ({ label: `chain ${c + 1}`, colour: colourOf(c) }));

/** The names of quantities as a list. */
export const namesOf = (quantities: readonly Quantity[]): string =>
  quantities.map(({ name }) => name).join(", ");

/** The stroke of a chain: thin and transparent if there are more chains than colours. */
export const lineOf = (count: number, width: number) =>
  count > palette.length
    ? { strokeWidth: 0.5, strokeOpacity: 0.3 }
    : { strokeWidth: width, strokeOpacity: 0.8 };
