/** Runs the Python program of measures (`measures.py`): each task and its answer are JSON. */
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("./measures.py", import.meta.url));
const NEEDS = "import numpy, scipy, sklearn, xgboost, ot";

/** The first Python with the packages of the measures: $PYTHON, python3, or Debian's. */
export function pythonWithMeasures(): string | undefined {
  return [process.env.PYTHON, "python3", "/usr/bin/python3"].find(
    (python) => python && spawnSync(python, ["-c", NEEDS]).status === 0,
  );
}

export interface Measures {
  /** The answer to a task; a task that failed raises its error. */
  readonly ask: <Answer>(task: string, details?: object) => Promise<Answer>;
  readonly close: () => void;
}

export function openMeasures(python: string): Measures {
  const child = spawn(python, [SCRIPT], {
    env: { ...process.env, OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" },
  });
  child.stderr.pipe(process.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    ask: async <Answer>(task: string, details: object = {}): Promise<Answer> => {
      child.stdin.write(`${JSON.stringify({ task, ...details })}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error("the program of measures ended early; its error is above");
      const answer = JSON.parse(value) as Answer & { error?: string };
      if (answer.error !== undefined) throw new Error(`measure ${task}: ${answer.error}`);
      return answer;
    },
    close: () => void child.stdin.end(),
  };
}
