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
/** Time for the other side to close; ioredis waits for it after each failed connection. */
const CLOSE_MS = 100;
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
  return "start a Redis or Valkey server there, or correct the address";
}

const UNREADABLE = "its reply cannot be read";
/** What connections fail with, in words. */
const faults: readonly (readonly [RegExp, string])[] = [
  [/^(EPIPE|ECONNRESET|Connection is closed\.)$/, "it closes the connection"],
  [/^(Protocol error|Command queue state error)/, UNREADABLE],
];

/** Waits for `task`, at most a time: a server that is frozen answers no good-bye. */
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
 * Works around two faults of ioredis 5.11. Its timer for an answer outlives the stream that it was started
 * for, keeps the process alive, and ends the next stream (issue 2147 there). Its parser recurses
 * into nested replies, and what it throws would end the process.
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

/** Waits for `task` at most a time, and until `signal` is set. */
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
  /** The most that the first connection may take. Default 10 seconds. */
  readonly firstMs?: number;
  /** The most that an answer may take. Default 30 seconds. */
  readonly answerMs?: number;
}

/** BullMQ duplicates the connection for calls that block, and waits for them where it closes. */
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

/** @param say called when the connection is lost and when it is back */
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
      say(`the connection to ${shown} is lost; waiting for it`);
    lost = true;
  });
  client.on("ready", () => {
    if (ready && lost) say(`${shown} is back`);
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
      // A server that is gone gets no QUIT.
      if (client.status === "ready") await atMost(client.quit());
      for (const each of [client, ...duplicates]) drop(each);
    },
  };
}
