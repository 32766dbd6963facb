/** Servers that are not Redis, and users of a Redis server with a part of the rights. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { Redis, startServer } from "../../packages/queue/test/server.ts";
import { diffeo, faultOf, note, patience } from "./attack.ts";
import { lineTo } from "./line.ts";
import { words } from "./scene.ts";

/** Servers that are not Redis. */
export async function servers(): Promise<void> {
  const talk: Readonly<Record<string, (socket: Socket) => void>> = {
    "says nothing": () => {},
    "speaks HTTP": (socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"),
    "sends rubbish": (socket) => socket.write(Buffer.alloc(100_000, 0xff)),
    "closes at once": (socket) => socket.destroy(),
    "claims a text of 2^40 bytes": (socket) =>
      socket.on("data", () => socket.write("$1099511627776\r\nx")),
    "nests endlessly": (socket) => socket.on("data", () => socket.write("*1\r\n".repeat(20_000))),
    "is an old Redis": (socket) =>
      socket.on("data", () => socket.write("-ERR unknown command\r\n".repeat(3))),
  };
  for (const [name, answer] of Object.entries(talk)) {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      answer(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const command of [
      [...words("none"), "--queue", url],
      ["queue", "--queue", url],
      ["worker", "--once", "--queue", url],
    ]) {
      const outcome = await diffeo(command, {
        seconds: 25,
        // Ten seconds are the limit for a server that does not answer; the rest is for a loaded
        // machine.
        meanwhile: (child) => void setTimeout(() => child.kill("SIGINT"), 16_000 * patience),
      });
      if (process.env.VERBOSE)
        console.log(
          `    ${command[0]}, a server that ${name}: ${outcome.code} ${outcome.seconds.toFixed(1)} s ${outcome.stderr.trim().split("\n").at(-1)?.slice(0, 150)}`,
        );
      const silent =
        outcome.code !== 0 && outcome.stderr.trim() === "" ? "wrong: no message" : undefined;
      note("queue, servers", `${command[0]}, a server that ${name}`, faultOf(outcome) ?? silent);
    }
    server.close();
  }
}

/** Users with a random part of the required rights. */
export async function rights(): Promise<void> {
  const server = await startServer();
  const path = server.url.slice("unix://".length);
  const client = new Redis({ path });
  const line = await lineTo(path);
  const classes = ["@read", "@write", "@list", "@hash", "@string", "@sortedset", "@stream", "@scripting", "@blocking", "@connection", "@keyspace"]; // biome-ignore format: a list
  for (let i = 0; i < 10; i++) {
    const given = classes.filter((_, j) => (i * 7 + j * 5) % 11 < 8);
    await client.call(
      "ACL",
      "SETUSER",
      `u${i}`,
      "reset",
      "on",
      ">pw",
      i % 2 ? "~diffeo:*" : "~*",
      "&*",
      ...given.map((name) => `+${name}`),
    );
    const url = line.url.replace("redis://", `redis://u${i}:pw@`);
    for (const command of [
      [...words("none"), "--queue", url],
      ["worker", "--once", "--queue", url],
    ]) {
      await client.flushall(); // no user gets the results of another
      const outcome = await diffeo(command, {
        seconds: 30,
        meanwhile: (child) => void setTimeout(() => child.kill("SIGINT"), 15_000 * patience),
      });
      const leak = /pw@/.test(outcome.stderr) ? "wrong: it shows the password" : undefined;
      if (process.env.VERBOSE)
        console.log(
          `    ${command[0]}, rights ${i}: ${outcome.code} ${outcome.seconds.toFixed(1)} s ${outcome.stderr.trim().split("\n").at(-1)?.slice(0, 150)}`,
        );
      note("queue, rights", `${command[0]} with ${given}`, faultOf(outcome) ?? leak);
    }
  }
  client.disconnect();
  line.close();
  await server.stop();
}
