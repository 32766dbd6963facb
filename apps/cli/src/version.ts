/** The package's version, from its package.json: one folder up from `src` as from `dist`. */
import { createRequire } from "node:module";

export const version: string = createRequire(import.meta.url)("../package.json").version;
