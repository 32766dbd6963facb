/**
 * The package as users install it: built, with its package.json, in the node_modules of an empty
 * project.
 */
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { built } from "../../../../test/build.ts";

/** The package, and the house it stands in. */
export const root = resolve(import.meta.dirname, "../..");
export const house = resolve(root, "../..");

const { dependencies, peerDependencies } = createRequire(import.meta.url)(
  "../../package.json",
) as Record<"dependencies" | "peerDependencies", Record<string, string>>;

/**
 * Puts what was built once for all tests, or another build, into a temporary project, and gives its
 * folder.
 *
 * @param peers whether ONNX Runtime is installed there, which the package does without
 */
export function packed(
  dist = join(built(), "packages", "diffeo", "dist"),
  peers = true,
): {
  readonly folder: string;
  remove(): void;
} {
  const folder = mkdtempSync(join(tmpdir(), "diffeo-"));
  const diffeo = join(folder, "node_modules", "diffeo");
  mkdirSync(diffeo, { recursive: true });
  copyFileSync(join(root, "package.json"), join(diffeo, "package.json"));
  for (const name of Object.keys({ ...dependencies, ...(peers && peerDependencies) })) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    symlinkSync(join(house, "node_modules", name), join(folder, "node_modules", name));
  }
  cpSync(dist, join(diffeo, "dist"), { recursive: true });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
