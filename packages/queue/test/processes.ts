/** The scripts that run as processes, by name. */
import { plainScripts } from "../../../test/scripts.ts";

export const scripts = plainScripts({
  command: new URL("./command.ts", import.meta.url),
  kinds: new URL("./kinds.ts", import.meta.url),
  look: new URL("./look.ts", import.meta.url),
  process: new URL("./process.ts", import.meta.url),
  worker: new URL("./worker.ts", import.meta.url),
});
