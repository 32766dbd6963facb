/** Builds the studio and starts one browser, before the first test file of the studio. */
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { BRIEF, chromiumWith, started, WEBGPU } from "../packages/diffeo/test/engine/starts.ts";
import { builtStudio } from "./build.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the studio and the address of the browser; or the reason why there is none. */
    studio:
      | { readonly folder: string; readonly browser: string }
      | { readonly folder: string; readonly why: string };
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = builtStudio();
  const found = await started("headless Chromium", async () => {
    const server = await chromium.launchServer(chromiumWith(BRIEF, ...WEBGPU));
    const browser = await chromium.connect(server.wsEndpoint());
    await browser.newPage();
    await browser.close();
    return { server };
  });
  if ("why" in found) {
    project.provide("studio", { folder, why: found.why });
    return async () => undefined;
  }
  project.provide("studio", { folder, browser: found.server.wsEndpoint() });
  return () => found.server.close();
}
