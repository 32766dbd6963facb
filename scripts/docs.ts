/**
 * Builds the documentation site into docs/.vitepress/dist: the API reference from the sources, the
 * pages of docs/ with the one-file build that their live examples load, and the studio under
 * /studio/.
 *
 *     npm run docs
 *
 * DIFFEO_SITE_BASE is the base path on the host, "/" by default.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vitepress";
import { builtStudio } from "../test/build.ts";
import { writeApi } from "./api.ts";
import { writeCdn } from "./cdn.ts";

const docs = join(import.meta.dirname, "..", "docs");
const machinery = join(docs, ".vitepress");

await writeApi(join(docs, "reference", "api"), join(machinery, "cache", "api"));
await writeCdn("diffeo", join(docs, "public", "cdn"));
await build(docs);
const studio = join(machinery, "dist", "studio");
rmSync(studio, { recursive: true, force: true });
cpSync(builtStudio(), studio, { recursive: true });
// The studio links to documents if this address is set.
const page = join(studio, "index.html");
const marker = '<meta name="documentation" content="" />';
const html = readFileSync(page, "utf8");
if (!html.includes(marker)) throw new Error(`${page} has no ${marker}`);
writeFileSync(page, html.replace(marker, '<meta name="documentation" content="../" />'));
