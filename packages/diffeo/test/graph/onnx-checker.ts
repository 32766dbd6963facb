/** ONNX's own checker, through Python, where it is installed. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * An interpreter that has ONNX's own package: Debian's python3-onnx belongs to /usr/bin/python3.
 */
const python = ["/usr/bin/python3", "python3"].find(
  (p) => spawnSync(p, ["-c", "import onnx.checker"]).status === 0,
);

/**
 * Checks every file of a folder, with ONNX's own shapes against the declared ones, and prints what
 * is wrong.
 */
const checker = `
import glob, onnx, onnx.checker, sys
for path in sorted(glob.glob(sys.argv[1] + "/*.onnx")):
    try:
        onnx.checker.check_model(onnx.load(path), full_check=True)
    except Exception as error:
        print(path.rsplit("/", 1)[1], str(error).strip().replace("\\n", " ")[:300])
print("checked", len(glob.glob(sys.argv[1] + "/*.onnx")))
`;

/**
 * What it says against files, a line each; nothing where it is not installed, unless this is CI.
 */
export function complaintsOfOnnx(
  files: readonly { readonly name: string; readonly bytes: Uint8Array }[],
): string[] {
  if (python === undefined)
    return process.env.CI === undefined ? [] : ["CI needs Debian's python3-onnx"];
  const folder = mkdtempSync(join(tmpdir(), "diffeo-onnx-"));
  try {
    files.forEach(({ name, bytes }, i) => {
      writeFileSync(
        join(folder, `${String(i).padStart(4, "0")} ${name.replaceAll(/\W+/g, " ")}.onnx`),
        bytes,
      );
    });
    const { stdout, stderr } = spawnSync(python, ["-c", checker, folder], { encoding: "utf8" });
    const said = `${stdout}${stderr}`.trim().split("\n");
    return said.at(-1) === `checked ${files.length}`
      ? said.slice(0, -1)
      : [...said, "it did not check all files"];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
