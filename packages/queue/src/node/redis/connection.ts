/**
 * A connection to the server of a queue. The first connection must succeed within seconds. A
 * connection that is lost later is retried without limit, so a server may restart.
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
/** Time for the other side to close; ioredis waits this long after each failed connection. */
const CLOSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;
/**
 * A server that does not answer within this time has not received the request, as behind a firewall
 * that dropped the connection. Calls that wait for jobs and events are answered within 10 seconds,
 * and repeated requests have no further effect.
 */
const ANSWER_MS = 30_000;

/** Remedies for the errors of servers. */
function adviceFor(message: string): string {
  const remedy = remedyFor(message);
  if (remedy !== undefined) return remedy;
  if (/certificate|TLS|SSL|self.signed/i.test(message))
    return "give the authority's certificate in NODE_EXTRA_CA_CERTS";
  return "start a Redis or Valkey server there, or correct the address";
}

const UNREADABLE = "its reply cannot be parsed";
/** Descriptions of connection errors. */
const faults: readonly (readonly [RegExp, string])[] = [
  [/^(EPIPE|ECONNRESET|Connection is closed\.)$/, "it closes the connection"],
  [/^(Protocol error|Command queue state error)/, UNREADABLE],
];

/**
 * Waits for `task` for a limited time, because a frozen server does not confirm the end of a
 * connection.
 */
export async function atMost(task: Promise<unknown>, ms = GOODBYE_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([task.catch(() => undefined), late]);
  clearTimeout(timer);
}

/** Closes a connection without waiting for the other side. */
function drop(client: Redis): void {
  client.disconnect();
  client.stream?.destroy();
}

/**
 * Works around two bugs of ioredis 5.11. Its timeout for an answer outlives the stream, keeps the
 * process alive, and ends the next stream (its issue 2147). Its parser recurses into nested
 * replies, and its exception would end the process.
 */
function guard(client: Redis): void {
  client.on("close", () => {
    const timed = client as unknown as { socketTimeoutTimer?: NodeJS.Timeout | undefined };
    clearTimeout(timed.socketTimeoutTimer);
    timed.socketTimeoutTimer = undefined;
  });
  client.on("connect", () => {
    const { stream } = client;
    const parse = stream.listeners("data")[0] as (data: Buffer) => void;
    stream.off("data", parse).prependListener("data", (data: Buffer) => {
      try {
        parse(data);
      } catch (cause) {
        stream.destroy(new Error(UNREADABLE, { cause }));
      }
    });
  });
}

/** Waits for `task` for a limited time, and until `signal` is aborted. */
async function inTime(task: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<void> {
  const ended = new AbortController();
  const late = new Promise<never>((_, reject) => {
    const silence = new Error(`no usable answer within ${ms / 1000} s`);
    const timer = setTimeout(() => reject(silence), ms);
    const onAbort = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    ended.signal.addEventListener("abort", () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    });
  });
  await Promise.race([task, late]).finally(() => ended.abort());
}

interface ConnectOptions {
  /** Ends the wait for the first connection. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit for the first connection. Default 10 seconds. */
  readonly firstMs?: number;
  /** Time limit for an answer. Default 30 seconds. */
  readonly answerMs?: number;
}

/** BullMQ duplicates the connection for blocking calls, and waits for them when it closes. */
function guardDuplicates(client: Redis): readonly Redis[] {
  const duplicates: Redis[] = [];
  const duplicate = client.duplicate.bind(client);
  client.duplicate = (override) => {
    const made = duplicate(override);
    guard(made);
    duplicates.push(made);
    return made;
  };
  return duplicates;
}

/** @param say called when the connection is lost and when it is restored */
export async function connect(
  { options, shown }: Address,
  say: (line: string) => void,
  { signal, firstMs = FIRST_MS, answerMs = ANSWER_MS }: ConnectOptions = {},
): Promise<Connection> {
  signal?.throwIfAborted();
  let ready = false;
  let lost = false;
  let reason: Error | undefined;
  const client = new Redis({
    ...options,
    lazyConnect: true,
    connectTimeout: firstMs,
    socketTimeout: answerMs,
    disconnectTimeout: CLOSE_MS,
    maxRetriesPerRequest: null,
    retryStrategy: (times) =>
      ready ? Math.min(LONGEST_PAUSE_MS, 50 * 2 ** Math.min(times, 10)) : null,
  });
  guard(client);
  const duplicates = guardDuplicates(client);
  client.on("error", (error: Error) => {
    reason ??= error;
  });
  client.on("close", () => {
    if (ready && !lost && client.status !== "end")
      say(`the connection to ${shown} is lost; reconnecting`);
    lost = true;
  });
  client.on("ready", () => {
    if (ready && lost) say(`the connection to ${shown} is restored`);
    [ready, lost] = [true, false];
  });
  try {
    await inTime(
      client.connect().then(() => client.ping()),
      firstMs,
      signal,
    );
  } catch (error) {
    ready = false;
    drop(client);
    signal?.throwIfAborted();
    const cause = reason ?? (error as Error);
    const { message, code = message } = cause as NodeJS.ErrnoException;
    const what = faults.find(([pattern]) => pattern.test(code))?.[1] ?? code.replace(/\.$/, "");
    throw new DiffeoError("data", `cannot use ${shown} (${what})`, adviceFor(message), { cause });
  }
  return {
    client,
    close: async () => {
      ready = false;
      // A server that is unreachable gets no QUIT.
      if (client.status === "ready") await atMost(client.quit());
      for (const each of [client, ...duplicates]) drop(each);
    },
  };
}
