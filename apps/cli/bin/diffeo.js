#!/usr/bin/env node
// npm links a command only if its file exists at installation, which in the repository is before
// the build.
import { existsSync } from "node:fs";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  console.error("diffeo: the command is not built. Run npm run build in the repository first.");
  process.exitCode = 1;
}
