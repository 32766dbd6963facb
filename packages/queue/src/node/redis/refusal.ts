/**
 * Errors in a server's answers. A refusal is an error that a retry does not change, such as no
 * memory, no permission or a read-only server. It ends the command or the worker with the server's
 * message.
 */
import { DiffeoError } from "diffeo/graph";
import type { Address } from "./address.ts";

/** Answers that do not change until somebody changes the server or its users. */
const refusals = [
  {
    answer:
      /^(NOPERM|NOAUTH|WRONGPASS|DENIED)|user .* (has no permissions|can't run this command)/i,
    remedy:
      "give the user and the password in the address, or DIFFEO_QUEUE_PASSWORD; the user " +
      "needs all commands on the keys diffeo:*, as ACL SETUSER NAME ~diffeo:* +@all gives " +
      "them",
  },
  {
    answer: /^OOM|^NOREPLICAS|^MISCONF/,
    remedy: "give the server more memory or disk space, or use another server",
  },
  { answer: /^READONLY/, remedy: "use the address of the primary server, which accepts writes" },
  {
    answer: /^ERR (unknown (sub)?command|.*command not allowed|max number of clients)/i,
    remedy: "use Redis 6.2 or later, or Valkey, with all commands and Lua scripts",
  },
];

/** The message of an error that is a server's answer. */
const answerOf = (error: unknown): string | undefined =>
  error instanceof Error && error.name === "ReplyError" ? error.message : undefined;

/** The remedy for an answer, if it is a refusal. */
export const remedyFor = (answer: string): string | undefined =>
  refusals.find((refusal) => refusal.answer.test(answer))?.remedy;

/** A refusal as an error with a remedy; undefined for any other error. */
export function refusalOf(error: unknown, { shown }: Address): DiffeoError | undefined {
  const answer = answerOf(error);
  const remedy = answer === undefined ? undefined : remedyFor(answer);
  if (answer === undefined || remedy === undefined) return undefined;
  return new DiffeoError(
    "data",
    `${shown} refuses: ${answer.slice(0, 300).replace(/\.$/, "")}`,
    remedy,
    { cause: error },
  );
}
