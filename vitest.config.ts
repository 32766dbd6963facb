import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Packages are read from their sources, as `--conditions=diffeo-source` has Node do. */
const conditions = ["diffeo-source"];

/**
 * Files of more than some seconds: training runs, studies, convergence orders, real processes that
 * are killed.
 */
const slow = [
  "packages/diffeo/test/graph/{runtime,onnx}.test.ts",
  "packages/diffeo/test/matching/{losses,slices}.test.ts",
  "packages/diffeo/test/sampler/{boundary,control,distribution,order,process,square}.test.ts",
  "packages/diffeo/test/{check/closed-forms,webgpu/webgpu,mcmc/nuts,mcmc/sample-posterior,mcmc/methods}.test.ts",
  "packages/chess/test/{appendix,measures,train-*}.test.ts",
  "{packages,apps}/{queue,cli}/test/{,queue/}{kills,part,queue}.test.ts",
  "packages/tables/test/{fit,walk,protocol,diffusion/train,diffusion/model,diffusion/known-distribution}.test.ts",
  "apps/cli/test/chess/{control-*,robust,shipped,streams,train-*}.test.ts",
  "apps/cli/test/{density/commands,density/study,infer/commands,infer/predictions,table/commands}.test.ts",
  "test/examples.test.ts",
];

/** Files that need the packages as they are published. */
const built = [
  "packages/diffeo/test/engine/{package,browser}.test.ts",
  "apps/cli/test/{built,page}.test.ts",
];

/** Files that open the studio as it is published. */
const studio = ["apps/studio/test/*.test.ts"];

/** What a glob of braces and stars in one folder matches. */
const pattern = (glob: string): RegExp =>
  new RegExp(
    `^${glob
      .replaceAll(".", "\\.")
      .replaceAll("*", "[^/]*")
      .replace(/\{([^}]*)\}/g, (_, names: string) => `(${names.replaceAll(",", "|")})`)}$`,
  );

/**
 * Files that open pages first, then slow ones: the many short ones fill the end, and no core waits
 * for a long file that another began last.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = [studio, built, slow];
    const rank = ({ moduleId }: TestSpecification): number => {
      const path = relative(import.meta.dirname, moduleId);
      const found = ranked.findIndex((globs) => globs.some((glob) => pattern(glob).test(path)));
      return found < 0 ? ranked.length : found;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
/**
 * One process for many files: to start one and load the library again takes a second of the
 * processor.
 */
const shared = { isolate: false };

/** `--mode fast` leaves slow files out. */
export default defineConfig(({ mode }) => ({
  ssr: {
    resolve: {
      conditions: [...conditions, "node", "import", "default"],
      externalConditions: conditions,
    },
  },
  test: {
    setupFiles: ["test/setup.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: "forks",
    // One more than cores: some files wait, for processes they killed or a browser that starts. The
    // default, one less, is half of two.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "house",
          ...shared,
          include: ["{packages,apps}/*/test/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...studio, ...(mode === "fast" ? [...built, ...slow] : [])],
        },
      },
      // What is published is built before the first test where the studio is tested too, and
      // otherwise where it is first needed.
      {
        extends: true,
        test: {
          name: "studio",
          ...shared,
          include: studio,
          globalSetup: ["test/build.ts", "test/build-studio.ts"],
        },
      },
    ],
  },
}));
