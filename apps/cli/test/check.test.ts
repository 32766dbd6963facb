import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../../test/folder.ts";
import { diffeo, startDiffeo } from "./run.ts";

const graph = JSON.stringify(
  fileURLToPath(new URL("../../../packages/diffeo/src/graph/index.ts", import.meta.url)),
);
const { folder } = testFolder("check");

/** y = 2eˣ on each coordinate, with whatever is to be wrong about it. */
const doubled = ({
  inverse = "log(mul(y, 0.5))",
  logDet = "sum(add(x, Math.LN2), -1)",
} = {}): string => `
import { add, exp, log, mul, sum } from ${graph};
export const event = [2];
export default {
  name: "doubled exp",
  eventRank: 1,
  forward: (x) => mul(exp(x), 2),
  inverse: (y) => ${inverse},
  logDet: (x) => ${logDet},
};
`;

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

describe("diffeo check", () => {
  it("reports that a built-in map passes", async () => {
    const { stdout, code } = await diffeo("check", "--map", "additiveLogistic");
    expect(stdout).toContain("additive logistic: all checks passed");
    expect(stdout).toContain("Reverse(φ(X)) = φ(Reverse(X)), drift");
    expect(code).toBe(0);
  });

  it("prints a report as JSON", async () => {
    const { stdout, code } = await diffeo("check", "--map", "sigmoidMap", "--json");
    const [report] = JSON.parse(stdout);
    expect(report.pass).toBe(true);
    for (const { worst, tolerance } of report.properties)
      expect(worst).toBeLessThanOrEqual(tolerance);
    expect(code).toBe(0);
  });

  it("accepts a map whose three functions agree, from a file outside of any copy of the library", async () => {
    const text = doubled().replace(graph, '"diffeo/graph"');
    const { stdout, code } = await startDiffeo("check", "--map", file("good.mjs", text)).ended;
    expect(stdout).toContain("doubled exp: all checks passed");
    expect(code).toBe(0);
  });

  it("checks a map on events of the specified size", async () => {
    const path = file("sized.mjs", doubled());
    const { stdout } = await diffeo("check", "--map", path, "--event", "3", "--json");
    const [{ properties }] = JSON.parse(stdout);
    for (const { where } of properties) expect(where.x).toHaveLength(3);
  });

  it("names the properties that a wrong inverse breaks, and ends with code 3", async () => {
    const { stdout, stderr, code } = await diffeo(
      "check",
      "--map",
      file("inverse.mjs", doubled({ inverse: "log(y)" })),
    );
    expect(stdout).toMatch(/✗ φ⁻¹\(φ\(x\)\) = x/);
    expect(stderr).toMatch(/doubled exp failed \d+ checks/);
    expect(code).toBe(3);
  });

  it("names the property that a wrong log-determinant breaks, even by a constant", async () => {
    const { stdout, code } = await diffeo(
      "check",
      "--map",
      file("logdet.mjs", doubled({ logDet: "sum(x, -1)" })),
    );
    expect(stdout).toMatch(/✗ log\|det J\| = log\|det\| of the dense J/);
    expect(code).toBe(3);
  });

  it("reports what a module lacks, the available names, and wrong usage", async () => {
    const lacking = await diffeo(
      "check",
      "--map",
      file("empty.mjs", "export default { forward: (x) => x };"),
    );
    expect(lacking.stderr).toMatch(/lacks inverse, logDet/);
    expect(lacking.code).toBe(1);
    const plain =
      "export default { forward: (x) => x * 2, inverse: (y) => y / 2, logDet: () => 0.7 };";
    const numbers = await diffeo("check", "--event", "2", "--map", file("plain.mjs", plain));
    expect(numbers.stderr).toMatch(
      /forward of ".*plain\.mjs" failed .* a tensor is used as a plain number.*Write add\(a, b\)[^.]*\.\n$/,
    );
    expect(numbers.code).toBe(2);
    const unknown = await diffeo("check", "--map", "simplexx");
    expect(unknown.stderr).toMatch(/additiveLogistic, isometricLogRatio/);
    expect(unknown.code).toBe(2);
    expect((await diffeo("check", "--mop")).code).toBe(2);
  });
});
