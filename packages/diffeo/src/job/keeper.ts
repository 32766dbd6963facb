/**
 * Resources that jobs of one process share: each is opened once, and closed when others were used
 * more recently.
 */
import type { Closable } from "../host/index.ts";
import type { JobContext } from "./kind.ts";

interface Kept {
  readonly value: Promise<unknown>;
  readonly dispose: (value: never) => Promise<void>;
}

/** The most open resources; the least recently used one is closed first. */
const MOST_KEPT = 2;

/** Keeps resources open by name. */
export interface Keeper extends Closable {
  /** The resources of jobs with the same kind and inputs, which `scope` names. */
  readonly scoped: (scope: string) => JobContext["keep"];
  /** Closes all resources. */
  dispose(): Promise<void>;
}

/** Opens a keeper; each executor in a process has one. */
export function openKeeper(): Keeper {
  const kept = new Map<string, Kept>();
  const drop = async (name: string): Promise<void> => {
    const { value, dispose } = kept.get(name) as Kept;
    kept.delete(name);
    // A failure to open has been an error of the job that opened it.
    await value.then(dispose as (value: unknown) => Promise<void>, () => undefined);
  };
  const dispose = async (): Promise<void> => {
    for (const name of [...kept.keys()]) await drop(name);
  };
  return {
    scoped:
      (scope) =>
      async (own, open, close = async () => undefined) => {
        const name = `${scope} ${own}`;
        const stored = kept.get(name);
        kept.delete(name);
        const value = (stored?.value ?? open()) as ReturnType<typeof open>;
        kept.set(name, { value, dispose: close });
        if (kept.size > MOST_KEPT) await drop([...kept.keys()][0]);
        return value.catch((error: unknown) => {
          if (kept.get(name)?.value === value) kept.delete(name);
          throw error;
        });
      },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}
