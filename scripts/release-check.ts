/**
 * Checks a release without publishing: packs every package, checks its archive by publint and by
 * "are the types wrong" for ES modules, and runs `npm publish --dry-run`. Run after `npm run
 * build`.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Archive {
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** Packages of static files or of a command only, which are not imported. */
const WITHOUT_TYPES = ["diffeo-studio", "diffeo-models"];

const root = join(import.meta.dirname, "..");
const tool = (name: string): string => join(root, "node_modules", ".bin", name);

/** The files that an archive lacks: licence, README and, for packages with code, the build. */
function missingFiles({ name, files }: Archive): readonly string[] {
  const paths = new Set(files.map((file) => file.path));
  const required = ["LICENSE", "README.md"].filter((path) => !paths.has(path));
  const built = [...paths].some((path) => path.startsWith("dist/"));
  return built || name === "diffeo-models" ? required : [...required, "dist (npm run build)"];
}

function check(archive: Archive, folder: string): readonly string[] {
  const path = join(folder, archive.filename);
  const problems = missingFiles(archive).map((file) => `it lacks ${file}`);
  const commands = [
    ["publint", "--strict", path],
    ...(WITHOUT_TYPES.includes(archive.name) ? [] : [["attw", "--profile", "esm-only", path]]),
  ];
  for (const [name, ...rest] of commands)
    try {
      execFileSync(tool(name!), rest, {
        encoding: "utf8",
        stdio: "pipe",
        env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" },
      });
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      problems.push(`${name} says:\n${stdout}${stderr}`);
    }
  return problems;
}

const folder = mkdtempSync(join(tmpdir(), "diffeo-release-"));
try {
  const packed = execFileSync(
    "npm",
    ["pack", "--workspaces", "--json", "--pack-destination", folder],
    { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "ignore"] },
  );
  const archives: readonly Archive[] = Object.values(JSON.parse(packed));
  const versions = new Set(archives.map(({ version }) => version));
  if (versions.size > 1) throw new Error(`Packages have the versions ${[...versions].join(", ")}.`);
  let failed = 0;
  for (const archive of archives) {
    const problems = check(archive, folder);
    const size = `${(archive.size / 1e6).toFixed(2)} MB, ${archive.files.length} files`;
    console.log(`${archive.name} ${archive.version}: ${size}`);
    for (const problem of problems) console.log(`  ${problem}`);
    if (problems.length > 0) failed++;
  }
  // The order of publishing, the access and the files are those of the release workflow.
  execFileSync("npm", ["publish", "--workspaces", "--access", "public", "--dry-run"], {
    cwd: root,
    stdio: "pipe",
  });
  console.log("npm publish --dry-run: done");
  if (failed > 0) {
    console.error(`${failed} of ${archives.length} packages are not ready.`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
