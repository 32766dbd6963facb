/**
 * Builds the documentation site into docs/.vitepress/dist.
 *
 *     npm run docs
 *
 * DIFFEO_SITE_BASE is the folder of the host that will serve it, "/" unless set.
 */
import { join } from "node:path";
import { build } from "vitepress";

const docs = join(import.meta.dirname, "..", "docs");

await build(docs);
