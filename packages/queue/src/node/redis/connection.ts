/**
 * A connection to the server of a queue. The first one must succeed within seconds; one that is
 * lost later is made again for as long as it takes: a server that restarts is waited for.
 */
import { DiffeoError } from "diffeo/graph";
import { Redis } from "ioredis";
import type { Address } from "./address.ts";
import { remedyFor } from "./refusal.ts";

export interface Connection {
  readonly client: Redis;
  readonly close: () => Promise<void>;
}

const FIRST_MS = 10_000;
const GOODBYE_MS = 1000;
const LONGEST_PAUSE_MS = 2000;
/**
 * A server that takes this long to answer has not heard the question, as behind a firewall that
 * forgot the connection. Calls that wait for jobs and events are answered within 10 seconds, and what is
 * asked twice is done once.
 */
const ANSWER_MS = 30_000;

/** What to do about the errors that servers give. */
function adviceFor(message: string): string {
  const remedy = remedyFor(message);
  if (remedy !== undefined) return remedy;
  if (/certificate|TLS|SSL|self.signed/i.test(message))
    return "give the authority's certificate in NODE_EXTRA_CA_CERTS";
  return "start a Redis or Valkey server there, or mend the address";
}

/** Waits for `task`, at most a time: a server that is frozen answers no good-bye. */
export async function atMost(task: Promise<unknown>, ms = GOODBYE_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([task.catch(() => undefined), late]);
  clearTimeout(timer);
}

/** @param say is told, once each time, that the connection is lost and that it is back */
export async function connect(
  { options, shown }: Address,
  say: (line: string) => void,
  answerMs = ANSWER_MS,
): Promise<Connection> {
  let ready = false;
  let lost = false;
  let reason: Error | undefined;
  const client = new Redis({
    ...options,
    lazyConnect: true,
    connectTimeout: FIRST_MS,
    socketTimeout: answerMs,
    maxRetriesPerRequest: null,
    retryStrategy: (times) =>
      ready ? Math.min(LONGEST_PAUSE_MS, 50 * 2 ** Math.min(times, 10)) : null,
  });
  // BullMQ duplicates the connection for calls that block, and waits for them where it closes.
  const duplicates: Redis[] = [];
  const duplicate = client.duplicate.bind(client);
  client.duplicate = (override) => {
    const made = duplicate(override);
    duplicates.push(made);
    return made;
  };
  client.on("error", (error: Error) => {
    reason ??= error;
  });
  client.on("close", () => {
    if (ready && !lost && client.status !== "end")
      say(`the connection to ${shown} is lost; waiting for it`);
    lost = true;
  });
  client.on("ready", () => {
    if (ready && lost) say(`${shown} is back`);
    [ready, lost] = [true, false];
  });
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    ready = false;
    client.disconnect();
    const cause = reason ?? (error as Error);
    const { message, code } = cause as NodeJS.ErrnoException;
    throw new DiffeoError("data", `cannot use ${shown} (${code ?? message})`, adviceFor(message), {
      cause,
    });
  }
  return {
    client,
    close: async () => {
      ready = false;
      // A server that is gone is not told good-bye.
      if (client.status === "ready") await atMost(client.quit());
      for (const each of [client, ...duplicates]) each.disconnect();
    },
  };
}
