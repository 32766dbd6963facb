/**
 * Whether a browser, its WebGPU and a software Vulkan start on this machine, found by starting
 * them: an existing file is not enough, since libraries may be missing. Tests that need one report
 * what they skip without it; in CI all of them must start.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium, type LaunchOptions } from "playwright-core";
import { briefly } from "./no-native.ts";
import { root } from "./packed.ts";

/** Debian's chromium brings SwiftShader, a Vulkan in software. */
const swiftShader = process.env.SWIFTSHADER_ICD ?? "/usr/lib/chromium/vk_swiftshader_icd.json";

/** What was started; or why it does not start, in a line. */
export type Started<T> = T | { readonly why: string };

export async function started<T>(what: string, start: () => Promise<T>): Promise<Started<T>> {
  try {
    return await start();
  } catch (error) {
    const [line] = (error as Error).message.trim().split("\n");
    return { why: `${what} does not start here: ${line.slice(0, 300)}` };
  }
}

/**
 * What a browser does for somebody who would type into its address bar: every window loads two
 * pages of its own, a second of the processor. Of several such lists the last one counts, so the
 * others are those that Playwright switches off.
 */
const noFeatures = [
  ...[
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AimEnabled",
    "LensOverlay",
    "PreconnectToSearch",
    "MediaRouter",
  ],
  ...[
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
  ],
  ...["PaintHolding", "DestroyProfileOnBrowserClose", "ThirdPartyStoragePartitioning"],
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "AvoidCorsURLLoaderRestartOnRedirect"],
];

/** How a browser is started. */
export const chromiumWith = (...flags: readonly string[]): LaunchOptions => ({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  timeout: 60_000,
  args: [
    ...[
      "--headless",
      "--no-sandbox",
      "--no-first-run",
      `--disable-features=${noFeatures.join(",")}`,
    ],
    ...["quic", "background-networking", "component-update", "sync"].map(
      (what) => `--disable-${what}`,
    ),
    ...flags,
  ],
});

/** For pages that compute for a moment. */
export const BRIEF = `--js-flags=${briefly}`;

/**
 * For pages that compute on WebGPU, in software; to have pictures put together there too takes as
 * long again.
 */
export const WEBGPU = [
  "enable-unsafe-webgpu",
  "use-webgpu-adapter=swiftshader",
  "disable-gpu-compositing",
].map((flag) => `--${flag}`);

/** A headless Chromium that can open a page. */
export const startChromium = (
  ...flags: readonly string[]
): Promise<Started<{ readonly browser: Browser }>> =>
  started("headless Chromium", async () => {
    const browser = await chromium.launch(chromiumWith(BRIEF, ...flags));
    await browser.newPage().then((page) => page.close());
    return { browser };
  });

/**
 * What Node prints in a process whose Vulkan is SwiftShader: the driver is chosen when Vulkan
 * starts.
 */
async function withSwiftShader(...words: readonly string[]): Promise<string> {
  const env = { ...process.env, VK_ICD_FILENAMES: swiftShader, VK_DRIVER_FILES: swiftShader };
  const all = ["--conditions=diffeo-source", "--import", "tsx", ...words];
  return (await promisify(execFile)(process.execPath, all, { cwd: root, env, maxBuffer: 1 << 26 }))
    .stdout;
}

const PROBE = `
import { compile, exp } from "diffeo";
const f = compile((x) => exp(x), [[2]], { device: "webgpu" });
console.log(await f([0, 0]).then(({ data }) => [...data].join(","), (error) => error.message));
await f.dispose();`;

/**
 * What a script of the tests prints there. Where it fails, a program that only computes says
 * whether anything starts at all.
 */
export async function onSwiftShader(
  script: string,
): Promise<Started<{ readonly printed: string }>> {
  try {
    return { printed: await withSwiftShader(join(root, "test", script)) };
  } catch (error) {
    return started("WebGPU on SwiftShader", async () => {
      if (!existsSync(swiftShader)) throw new Error(`there is no ${swiftShader}`);
      const said = await withSwiftShader("--input-type=module", "--eval", PROBE);
      if (said !== "1,1\n") throw new Error(said);
    }).then((found) => {
      if (found) return found;
      throw error;
    });
  }
}

/** Says what a run of the tests does not show. In CI nothing is left out. */
export function leftOut(what: string, why: string): void {
  if (process.env.CI === "true")
    throw new Error(`${why}; CI needs Debian's chromium and libvulkan1`);
  console.error(`left out: ${what}. ${why}`);
}
