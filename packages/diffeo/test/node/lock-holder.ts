/** Holds a folder until its standard input ends: lock-holder.js FOLDER. Prints its process number. */
import { inFolder } from "diffeo/node";

await inFolder(process.argv[2], async () => {
  process.stdout.write(String(process.pid));
  for await (const _ of process.stdin);
});
