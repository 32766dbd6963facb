import { defineConfig } from "vitest/config";

/** Packages are read from their sources, as `--conditions=diffeo-source` has Node do. */
const conditions = ["diffeo-source"];

export default defineConfig({
  ssr: { resolve: { conditions: [...conditions, "node", "import", "default"], externalConditions: conditions } },
  test: {
    include: ["{packages,apps}/*/test/**/*.test.ts", "test/**/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: "forks",
  },
});
