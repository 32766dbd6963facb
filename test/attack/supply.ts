/** Supply chain: what is packed, install scripts, licences, and the lockfile. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { note } from "./attack.ts";

const area = "supply chain";
const house = fileURLToPath(new URL("../../", import.meta.url));
const json = (path: string) => JSON.parse(readFileSync(join(house, path), "utf8"));

export async function supply(): Promise<void> {
  // The files that `npm publish` would send.
  const { stdout } = spawnSync("npm", ["pack", "--workspaces", "--dry-run", "--json", "--silent"], {
    cwd: house,
    encoding: "utf8",
    maxBuffer: 2 ** 27,
  });
  for (const { name, files, size } of JSON.parse(stdout)) {
    const odd = files
      .map(({ path }: { path: string }) => path)
      .filter(
        (path: string) =>
          /(^|\/)(\.|node_modules|test|coverage)|\.(tsbuildinfo|log|env|pem|key|orig|rej)$|~$/.test(
            path,
          ) && !/\.d\.m?ts/.test(path),
      );
    const secret = files
      .map(({ path }: { path: string }) => path)
      .filter((path: string) => /\.(js|mjs|json|md|html|css|ts)$/.test(path))
      .find((path: string) => {
        const own =
          name === "diffeo-models"
            ? "models"
            : [
                ...readdirSync(join(house, "packages")).map((p) => `packages/${p}`),
                "apps/cli",
                "apps/studio",
              ].find((p) => json(`${p}/package.json`).name === name);
        const file = join(house, own ?? "", path);
        return (
          existsSync(file) &&
          /\/(root|home|work)\/(?!web_user)[a-z]|BEGIN [A-Z ]*PRIVATE KEY|_authToken|ghp_[A-Za-z0-9]{20}/.test(
            readFileSync(file, "utf8"),
          )
        );
      });
    console.log(`  ${name}: ${files.length} files, ${(size / 1e3).toFixed(0)} kB packed`);
    note(area, `${name}'s files`, odd.length > 0 ? `wrong: ${odd.slice(0, 3)}` : undefined, false);
    note(area, `${name}: paths of a machine, keys`, secret ? `wrong: ${secret}` : undefined, false);
    note(
      area,
      `${name}: a licence`,
      files.some(({ path }: { path: string }) => /^LICEN[CS]E/.test(path))
        ? undefined
        : "wrong: none",
      false,
    );
  }
  const { packages } = json("package-lock.json") as {
    packages: Record<
      string,
      {
        version?: string;
        resolved?: string;
        integrity?: string;
        link?: boolean;
        hasInstallScript?: boolean;
        optional?: boolean;
        dev?: boolean;
      }
    >;
  };
  let [without, scripts] = [0, [] as string[]];
  for (const [path, about] of Object.entries(packages)) {
    if (!path.startsWith("node_modules/") && !path.includes("/node_modules/")) continue;
    if (about.link) continue;
    const user = !about.dev;
    if (about.hasInstallScript && user) scripts = [...scripts, path];
    if (!about.integrity) without++;
    const strange =
      about.resolved !== undefined && !/^https:\/\//.test(about.resolved)
        ? `wrong: from ${about.resolved}`
        : undefined;
    const weak =
      about.integrity && !/^sha512-/.test(about.integrity) ? "wrong: no SHA-512" : undefined;
    const open = user && !about.integrity && !about.optional ? "wrong: no digest" : undefined;
    // The installed version is the locked one.
    const there = join(house, path, "package.json");
    const other =
      existsSync(there) && JSON.parse(readFileSync(there, "utf8")).version !== about.version
        ? "wrong: another version is installed"
        : undefined;
    note(area, path, strange ?? weak ?? open ?? other, false);
  }
  console.log(
    `  ${without} packages without a digest in the lockfile; install scripts: ${scripts.join(", ") || "none"}`,
  );
}
