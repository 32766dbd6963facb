/**
 * Errors that a server answers with. A refusal is one that asking again does not change: no memory,
 * no right, a server that only reads. It ends the command or the worker with the server's own words.
 */
import { DiffeoError } from "diffeo/graph";
import type { Address } from "./address.ts";

/** Answers that stay as they are until a person changes the server or its users. */
const refusals = [
  {
    answer:
      /^(NOPERM|NOAUTH|WRONGPASS|DENIED)|user .* (has no permissions|can't run this command)/i,
    remedy:
      "give the user and the password in the address, or DIFFEO_QUEUE_PASSWORD; the user needs all commands on the keys diffeo:*, as ACL SETUSER NAME ~diffeo:* +@all gives them",
  },
  {
    answer: /^OOM|^NOREPLICAS|^MISCONF/,
    remedy: "give the server more memory or disk, or another server in the address",
  },
  { answer: /^READONLY/, remedy: "give the address of the primary server, which can be written" },
  {
    answer: /^ERR (unknown (sub)?command|.*command not allowed|max number of clients)/i,
    remedy: "use Redis 6.2 or later, or Valkey, with all commands and Lua scripts",
  },
];

/** The message of an error that the server itself answered with. */
const answerOf = (error: unknown): string | undefined =>
  error instanceof Error && error.name === "ReplyError" ? error.message : undefined;

/** What to do about an answer, where it is a refusal. */
export const remedyFor = (answer: string): string | undefined =>
  refusals.find((refusal) => refusal.answer.test(answer))?.remedy;

/** A refusal as an error for a person; any other error is undefined. */
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
