/**
 * npm run bench -- queue-kills [SEED [JOBS]]: work on a queue while its workers are killed 30
 * times, its command 5 times, and its server once. At the end there must be one result per job,
 * with the bytes of a single process. Jobs must last until the last kill: a fast machine needs more
 * of them than a busy one.
 */
import { survive } from "../packages/queue/test/kills.ts";
import { hasServer } from "../packages/queue/test/server.ts";

export async function run(): Promise<void> {
  if (!hasServer) throw new Error("redis-server is not installed");
  const [seed = 1, jobs = 3000] = process.argv.slice(3).map(Number);
  const plan = { workers: 3, jobs, ms: 100, workerKills: 30, commandKills: 5, restarts: 1 };
  const found = await survive({
    ...{ ...plan, pauseMs: 2000, leaseSeconds: 1.5, seed },
    say: (line) => process.stderr.write(`${line}\n`),
  });
  const { same, results, waiting, active, failed, workerKills, commandKills, restarts, seconds } =
    found;
  process.stdout.write(
    `${plan.jobs} jobs of ${plan.ms} ms on ${plan.workers} workers, seed ${seed}: ${workerKills} workers, ${commandKills} commands and ${restarts} server killed in ${seconds.toFixed(0)} s\n` +
      `results on the server: ${results}; waiting ${waiting}, active ${active}, failed ${failed}\n` +
      `the bytes are ${same ? "those of one process" : "NOT those of one process"}\n`,
  );
  if (
    !same ||
    results !== plan.jobs ||
    waiting + active + failed > 0 ||
    workerKills < plan.workerKills
  )
    process.exitCode = 1;
}
