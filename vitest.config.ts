import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Packages are read from their sources, as `--conditions=diffeo-source` has Node do. */
const conditions = ["diffeo-source"];

/** Files of more than some seconds: training runs, studies, convergence orders, real processes that are killed. */
const slow = [
  "packages/diffeo/test/graph/{runtime,onnx}.test.ts",
  "packages/diffeo/test/matching/{losses,slices}.test.ts",
  "packages/diffeo/test/sampler/{boundary,control,distribution,order,process,square,webgpu}.test.ts",
  "packages/diffeo/test/{check/closed-forms,engine/webgpu,mcmc/nuts,mcmc/infer,mcmc/methods}.test.ts",
  "packages/chess/test/{appendix,measures,train-*}.test.ts",
  "{packages,apps}/{queue,cli}/test/{,queue/}{kills,part,queue}.test.ts",
  "packages/tables/test/{fit,walk,protocol,diffusion/train,diffusion/model,diffusion/known-law}.test.ts",
  "apps/cli/test/chess/{control-*,robust,shipped,streams,train-*}.test.ts",
  "apps/cli/test/{density/commands,density/study,infer/commands,table/commands}.test.ts",
  "test/examples.test.ts",
];

/** Files that need the packages as they are published. */
const built = ["packages/diffeo/test/engine/{package,browser}.test.ts", "apps/cli/test/{built,page}.test.ts"];

/** Slow files first: the many short ones fill the end, and no core waits for a long file that another began last. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project }: TestSpecification): number => ["slow", "studio", "built", "fast"].indexOf(project.name);
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
/** Files that open the studio as it is published. */
const studio = ["apps/studio/test/*.test.ts"];

/** One process for many files: to start one and load the library again takes a second of the processor. */
const shared = { isolate: false };

export default defineConfig({
  ssr: { resolve: { conditions: [...conditions, "node", "import", "default"], externalConditions: conditions } },
  test: {
    setupFiles: ["test/setup.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: "forks",
    // One more than cores: some files wait, for processes they killed or a browser that starts. The default, one less, is half of two.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          ...shared,
          include: ["{packages,apps}/*/test/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...slow, ...built, ...studio],
        },
      },
      { extends: true, test: { name: "slow", ...shared, include: slow } },
      { extends: true, test: { name: "built", ...shared, include: built, globalSetup: ["test/build.ts"] } },
      { extends: true, test: { name: "studio", ...shared, include: studio, globalSetup: ["test/build-studio.ts"] } },
    ],
  },
});
