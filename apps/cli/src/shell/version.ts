/**
 * The package's version, from its package.json: two folders up from `src/shell` as from
 * `dist/shell`.
 */
import { createRequire } from "node:module";

export const version: string = createRequire(import.meta.url)("../../package.json").version;
