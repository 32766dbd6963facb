/** diffeo devices: what this machine can run on, tried and not only listed. */
import type { Command } from "commander";
import { compile, devices } from "diffeo/engine";
import { add, DiffeoError, type Tensor } from "diffeo/graph";

async function run({ json }: { readonly json?: boolean }): Promise<void> {
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
  if (json) return void process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`);
  for (const { name, types, description, works, remedy } of rows) {
    process.stdout.write(`${works ? "✓" : "✗"} ${name.padEnd(10)} ${types.join(", ").padEnd(18)} ${description}\n`);
    if (remedy) process.stdout.write(`    to use it, ${remedy}\n`);
  }
}

export function addDevices(program: Command): void {
  program
    .command("devices")
    .description("list the devices that can run a graph")
    .option("--json", "print as JSON")
    .action(run);
}
