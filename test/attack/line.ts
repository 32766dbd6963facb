/** A network line between a command and a server that fails in a given way. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export type Mode = "pass" | "swallow" | "reset" | "cut" | "slow" | "corrupt";

export interface Line {
  readonly url: string;
  mode: Mode;
  close(): void;
}

/** A line to a server that passes, swallows, cuts, delays or changes what is sent. */
export async function lineTo(path: string): Promise<Line> {
  const sockets = new Set<Socket>();
  const line = { url: "", mode: "pass" as Mode, close: () => {} };
  let count = 0;
  const pipe = (from: Socket, to: Socket): void => {
    from.on("data", (data: Buffer) => {
      const { mode } = line;
      if (mode === "swallow") return;
      if (mode === "reset" && ++count % 20 === 0) return void from.destroy();
      if (mode === "cut" && ++count % 15 === 0) {
        to.write(data.subarray(0, data.length / 2));
        return void to.destroy();
      }
      if (mode === "corrupt" && ++count % 40 === 0) data[Math.floor(data.length / 2)] ^= 0x20;
      if (mode === "slow") setTimeout(() => to.write(data), 200);
      else to.write(data);
    });
    from.on("error", () => {});
    from.on("close", () => to.destroy());
  };
  const server: Server = createServer((client) => {
    const upstream = connect(path);
    sockets.add(client).add(upstream);
    pipe(client, upstream);
    pipe(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  line.url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  line.close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return line;
}
