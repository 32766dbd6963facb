/** The built studio for a file of tests. */
import { type Browser, chromium } from "playwright-core";
import { serveFolder } from "../../cli/src/studio/server.ts";

/** The studio, served, in the browser that all files of tests share. */
export interface OpenStudio {
  readonly url: string;
  readonly browser: Browser;
  close(): Promise<void>;
}

export async function openStudio(studio: {
  readonly folder: string;
  readonly browser: string;
}): Promise<OpenStudio> {
  const serving = await serveFolder(studio.folder, 0);
  const browser = await chromium.connect(studio.browser);
  return {
    url: serving.url,
    browser,
    close: async () => {
      await browser.close();
      await serving.close();
    },
  };
}
