#!/usr/bin/env node
// npm links a command where its file is there when it installs, which in the house is before the
// build.
import { existsSync } from "node:fs";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  console.error(
    "diffeo: the command is not built. Run npm run build in the folder of the house first.",
  );
  process.exitCode = 1;
}
