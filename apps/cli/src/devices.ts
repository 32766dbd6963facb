/** diffeo devices: tries every device of this machine and lists what works. */
import { compile, devices } from "diffeo/engine";
import { add, DiffeoError, type Tensor } from "diffeo/graph";
import type { Declare, Io } from "./shell/io.ts";

async function run(io: Io, { json }: { readonly json?: boolean }): Promise<void> {
  const rows = [];
  for (const { name, types, description } of await devices()) {
    const f = compile((x: Tensor) => add(x, 1), [[1]], { device: name });
    try {
      await f([1]);
      rows.push({ name, types, description, works: true });
    } catch (error) {
      if (!(error instanceof DiffeoError)) throw error;
      rows.push({ name, types, description, works: false, remedy: error.remedy });
    } finally {
      await f.dispose();
    }
  }
  if (json) return void io.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`);
  for (const { name, types, description, works, remedy } of rows) {
    io.stdout.write(
      `${works ? "✓" : "✗"} ${name.padEnd(12)} ${types.join(", ").padEnd(18)} ${description}\n`,
    );
    if (remedy) io.stdout.write(`    to use it, ${remedy}\n`);
  }
}

export const declare: Declare = (command, io) =>
  void command.option("--json", "print as JSON").action((options) => run(io, options));
