/** What a pool and its workers send to each other. */
import { DiffeoError, type ErrorKind } from "../graph/index.ts";

/** A job of a pool: a kind and parameters. */
export interface PoolJob {
  readonly kind: string;
  readonly parameters: unknown;
}

/** Messages to a worker. */
export type Message =
  | { readonly kind: "job"; readonly job: PoolJob }
  | { readonly kind: "answer"; readonly id: number; readonly answer: unknown }
  | { readonly kind: "refusal"; readonly id: number; readonly error: Failure };

/** Messages from a worker. */
export type Reply =
  | { readonly kind: "progress"; readonly progress: unknown }
  | { readonly kind: "ask"; readonly id: number; readonly what: unknown }
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "failed"; readonly error: Failure };

/** An error in a message between processes. */
export interface Failure {
  readonly message: string;
  readonly diffeo?: { readonly kind: ErrorKind; readonly problem: string; readonly remedy: string };
}

export const failureOf = (error: unknown): Failure =>
  error instanceof DiffeoError
    ? {
        message: error.message,
        diffeo: { kind: error.kind, problem: error.problem, remedy: error.remedy },
      }
    : { message: error instanceof Error ? error.message : String(error) };

export const errorOf = ({ message, diffeo }: Failure): Error =>
  diffeo ? new DiffeoError(diffeo.kind, diffeo.problem, diffeo.remedy) : new Error(message);
