/**
 * A module that the user wrote: a map or a model. Its imports of `diffeo/…` resolve to the library
 * of this program, wherever the module is, because tensors of another copy are incompatible and the
 * module's folder may not have the library.
 *
 * A hook of Node's loader reports which module imports which, and the digest of every source when
 * it is loaded. A digest therefore covers all code of a model, and the bytes that ran.
 */
import { createHash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import { createRequire, register } from "node:module";
import { dirname, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { DiffeoError, fail } from "diffeo/graph";

const hook = `
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
let from, port;
export const initialize = (data) => { ({ from, port } = data); };
export async function resolve(name, context, next) {
  if (/^diffeo(\\/|$)/.test(name)) return next(name, { ...context, parentURL: from });
  const found = await next(name, context);
  if (context.parentURL) port.postMessage({ importer: context.parentURL, url: found.url });
  return found;
}
export async function load(url, context, next) {
  const found = await next(url, context);
  if (found.format === "builtin") return found;
  const source = found.source ?? await readFile(new URL(url));
  port.postMessage({ url, digest: createHash("sha256").update(source).digest("hex") });
  return found;
}`;

type Report = { readonly url: string } & (
  | { readonly importer: string }
  | { readonly digest: string }
);

/** What this process has loaded: digests of sources, and what each module imports, by address. */
interface Loaded {
  readonly port: MessagePort;
  readonly digests: Map<string, string>;
  readonly imports: Map<string, Set<string>>;
}

let loaded: Loaded | undefined;

function watchLoader(): Loaded {
  const { port1: port, port2 } = new MessageChannel();
  register(`data:text/javascript,${encodeURIComponent(hook)}`, {
    data: { from: import.meta.url, port: port2 },
    transferList: [port2],
  });
  port.unref();
  return { port, digests: new Map(), imports: new Map() };
}

/** Processes the reports of the modules loaded so far. */
function takeReports({ port, digests, imports }: Loaded): void {
  for (;;) {
    const report = (receiveMessageOnPort(port) as { message: Report } | undefined)?.message;
    if (report === undefined) return;
    if ("digest" in report) digests.set(report.url, report.digest);
    else imports.set(report.importer, (imports.get(report.importer) ?? new Set()).add(report.url));
  }
}

/** The modules that a CommonJS module requires, which Node's loader does not report to a hook. */
const requiredBy = (url: string): readonly string[] => {
  if (!url.startsWith("file:")) return [];
  const children = createRequire(import.meta.url).cache[fileURLToPath(url)]?.children ?? [];
  return children.map(({ filename }) => pathToFileURL(filename).href);
};

/** A module and all its imports, without Node's own modules and this library. */
function modulesOf(root: string, { imports }: Loaded): ReadonlySet<string> {
  const modules = new Set([root]);
  for (const url of modules)
    for (const below of [...(imports.get(url) ?? []), ...requiredBy(url)])
      if (!below.startsWith("node:")) modules.add(below);
  return modules;
}

/** One digest of a module and its imports, whose paths are relative to the folder of the module. */
async function digestOf(root: string, state: Loaded): Promise<string> {
  const folder = dirname(fileURLToPath(root));
  const lines = [...modulesOf(root, state)].map(async (url) => {
    const place = url.startsWith("file:") ? relative(folder, fileURLToPath(url)) : url;
    const sha256 = createHash("sha256");
    const digest =
      state.digests.get(url) ?? sha256.update(await readFile(new URL(url))).digest("hex");
    return `${place} ${digest}\n`;
  });
  const all = (await Promise.all(lines)).sort().join("");
  return createHash("sha256").update(all).digest("hex").slice(0, 16);
}

export interface OwnModule {
  readonly exports: Record<string, unknown>;
  /** Digest of the module's source and of all its imports. */
  readonly digest: string;
}

/** Rejects when the process has nothing left to wait for. */
function nothingLeft(path: string): { readonly ended: Promise<never>; forget(): void } {
  let notice = (): void => {};
  const ended = new Promise<never>((_, reject) => {
    notice = () =>
      reject(
        new DiffeoError(
          "data",
          `${path} waits for a promise that never settles`,
          "check what it awaits outside of functions",
        ),
      );
    process.once("beforeExit", notice);
  });
  return { ended, forget: () => void process.off("beforeExit", notice) };
}

/** Imports a module that the user wrote. */
export async function importOwn(path: string): Promise<OwnModule> {
  if (!(await stat(path)).isFile())
    fail("data", `${path} is not a file`, "write the module to a file");
  loaded ??= watchLoader();
  const { href } = pathToFileURL(await realpath(path));
  const { ended, forget } = nothingLeft(path);
  const exports = await Promise.race([import(href), ended]).finally(forget);
  takeReports(loaded);
  return { exports, digest: await digestOf(href, loaded) };
}
