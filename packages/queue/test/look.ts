/** Looks at a queue, as a process (`processes.ts`) that ends when nothing is left to do: look.js URL. */
import { parseAddress, readQueues } from "diffeo-queue";

await readQueues(parseAddress(process.argv[2])).catch((error: Error) => {
  process.stderr.write(error.message);
  process.exitCode = 1;
});
