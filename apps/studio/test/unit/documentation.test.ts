/** Links from the studio to the documentation site. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { documents } from "../../src/shell/documentation.ts";

const docs = join(import.meta.dirname, "../../../../docs");

it("lead to pages that exist", () => {
  const sources = Object.values(documents).map(({ page }) => page.replace(/\.html$/, ".md"));
  expect(sources.filter((source) => !existsSync(join(docs, source)))).toEqual([]);
});
