/** npm run bench -- NAME: runs one benchmark, or lists them. */
const benchmarks: Readonly<Record<string, () => Promise<{ readonly run: () => Promise<void> }>>> = {
  chess: () => import("./chess.ts"),
  "few-steps": () => import("./few-steps.ts"),
  graph: () => import("./graph.ts"),
  guide: () => import("./guide.ts"),
  half: () => import("./half.ts"),
  inverse: () => import("./inverse.ts"),
  "inverse-chess": () => import("./inverse-chess.ts"),
  "map-costs": () => import("./map-costs.ts"),
  matching: () => import("./matching.ts"),
  mixed: () => import("./mixed.ts"),
  outside: () => import("./outside.ts"),
  posteriors: () => import("./posteriors.ts"),
  queue: () => import("./queue.ts"),
  "queue-kills": () => import("./queue-kills.ts"),
  "ordinary-tables": () => import("./ordinary-tables.ts"),
  "real-tables": () => import("./real-tables.ts"),
  sampler: () => import("./sampler.ts"),
  small: () => import("./small.ts"),
  studio: () => import("./studio.ts"),
  tables: () => import("./tables.ts"),
  "tables-speed": () => import("./tables-speed.ts"),
  "uci-tables": () => import("./uci-tables.ts"),
};

const name = process.argv[2] ?? "";
const load = benchmarks[name];
if (load) await (await load()).run();
else {
  process.stderr.write(
    `npm run bench -- NAME, where NAME is one of: ${Object.keys(benchmarks).join(", ")}\n`,
  );
  process.exitCode = 2;
}
