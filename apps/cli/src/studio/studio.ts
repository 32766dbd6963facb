/**
 * diffeo studio: serves the web app to this machine until it is stopped. All computing happens in
 * the browser.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fail } from "diffeo/graph";
import type { Declare, Io } from "../shell/io.ts";
import { integer } from "../shell/options.ts";
import { serveFolder } from "./server.ts";

interface StudioOptions {
  readonly port: number;
  readonly open?: boolean;
}

/** The folder of the built files. */
function studioFolder(): string {
  const folder = join(
    dirname(createRequire(import.meta.url).resolve("diffeo-studio/package.json")),
    "dist",
  );
  if (!existsSync(join(folder, "index.html")))
    fail(
      "data",
      `the studio has not been built: ${folder} is empty`,
      "run npm run build in the repository first",
    );
  return folder;
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Opens the address in the user's browser, if possible. */
function openBrowser(url: string): void {
  const [command, ...words] = OPENERS[process.platform] ?? ["xdg-open"];
  spawn(command, [...words, url], { stdio: "ignore", detached: true })
    .on("error", () => undefined)
    .unref();
}

async function serve({ stdout, signal }: Io, { port, open }: StudioOptions): Promise<void> {
  const { url, close } = await serveFolder(studioFolder(), port);
  stdout.write(`diffeo studio: ${url}\nPress Ctrl-C to stop it.\n`);
  if (open) openBrowser(url);
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await close();
}

export const declare: Declare = (command, io) =>
  void command
    .option("--port <n>", "port on 127.0.0.1; 0 for one that is free", integer(0, 65_535), 4717)
    .option("--open", "open it in the browser")
    .action((options) => serve(io, options));
