/** What a page knows of csv-parse: its own types refer to Node's. */
export function parse(input: string, options: Readonly<Record<string, unknown>>): unknown;
