/**
 * The studio's server: unusual request lines, hosts, headers and paths; clients that disconnect or
 * do not read.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { note } from "./attack.ts";

const area = "studio";
const bin = fileURLToPath(new URL("../../apps/cli/bin/diffeo.js", import.meta.url));

const opened = async (port: number): Promise<Socket> => {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve));
  return socket;
};

/** The status of the response to a raw request; 0 if there is none. */
async function ask(port: number, text: string | Buffer): Promise<{ status: number; body: string }> {
  const socket = await opened(port);
  let body = "";
  socket.on("data", (data) => {
    body += data.toString("latin1");
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(text);
  await Promise.race([closed, pause(1500)]);
  socket.destroy();
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(body)?.[1] ?? 0), body };
}

const get = (path: string, headers = "Host: 127.0.0.1", method = "GET"): string =>
  `${method} ${path} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`;

const SECRET = /root:x:|"workspaces"|BEGIN [A-Z ]*KEY/;
const paths = [
  "/....//....//etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%5c..%5cetc/passwd", "/%252e%252e/etc/passwd",
  "//etc/passwd", "/./../package.json", "/assets/../../package.json", "/%00", "/index.html%00.js", "/%ff%fe",
  "/%", "/%zz", "http://127.0.0.1/../package.json", "file:///etc/passwd", "*", "/;a=1/../..", "/__proto__",
  "/constructor", "/toString", "/\u00e9", `/${"a".repeat(15_000)}`, `/${"../".repeat(2000)}etc/passwd`, "/?x=../../",
  "/#/../", "/index.html/", "/INDEX.HTML", "/.env", "/.git/config", "/node_modules/", "/index.html?".padEnd(8000, "x"),
]; // biome-ignore format: a list
const hosts = [
  "", "Host:", "Host: evil.example", "Host: 127.0.0.1.evil.example", "Host: localhost.evil.example", "Host: 127.0.0.1:80:80",
  "Host: [::1]", "Host: 0.0.0.0", "Host: 2130706433", "Host: 127.1", "Host: localhost\r\nHost: evil.example",
  "Host: evil.example\r\nX-Forwarded-Host: localhost", "Host: LOCALHOST.", "Host: user@localhost", "Host: localhost\t",
]; // biome-ignore format: a list
const headers = [
  "Range: bytes=0-", "Range: bytes=-1", "Range: bytes=9999999999999999999-", "If-None-Match: *", "Expect: 100-continue",
  "Upgrade: websocket\r\nConnection: Upgrade", "Upgrade: h2c", "Transfer-Encoding: chunked", "Content-Length: 99999999999",
  "Content-Length: -1", "Transfer-Encoding: chunked\r\nContent-Length: 5", "Accept-Encoding: gzip", "Origin: null",
  "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: evil", "X: ".padEnd(20_000, "y"), "Cookie: a=b", " folded", "Bad Header: 1",
]; // biome-ignore format: a list
const methods = [
  "POST",
  "PUT",
  "DELETE",
  "PATCH",
  "OPTIONS",
  "TRACE",
  "CONNECT",
  "PROPFIND",
  "get",
  "X".repeat(500),
];
const raw = [
  "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\0\0\0\0", "\x16\x03\x01\x02\x00\x01\x00", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "GET / HTTP/1.0\r\n\r\n", "G".repeat(100_000), "SSH-2.0-x\r\n", "GET / HTTP/1.1\nHost: localhost\n\n",
]; // biome-ignore format: a list

/** Files that a process has open. */
const filesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

async function serve(): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [bin, "studio", "--port", "0"]);
  const port = await new Promise<number>((resolve) => {
    let text = "";
    const look = (data: Buffer): void => {
      text += data;
      const found = /127\.0\.0\.1:(\d+)/.exec(text);
      if (found) resolve(Number(found[1]));
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
  });
  return { child, port };
}

export async function studio(): Promise<void> {
  const { child, port } = await serve();
  const pid = child.pid as number;
  const local = "Host: 127.0.0.1";
  const { body } = await ask(port, get("/"));
  const asset = /(?:src|href)="\.?(\/[^"]+\.js)"/.exec(body)?.[1] ?? "/index.html";
  const check = async (name: string, text: string | Buffer, refuses = false): Promise<void> => {
    const answer = await ask(port, text);
    const leak = SECRET.test(answer.body) ? "wrong: it sent another file" : undefined;
    const served = refuses && answer.status === 200 ? "wrong: it answered" : undefined;
    const internal =
      answer.status >= 500 && answer.status !== 501 && answer.status !== 505
        ? `wrong: status ${answer.status}`
        : undefined;
    note(
      area,
      name,
      child.exitCode !== null ? "crashed: the server has ended" : (leak ?? served ?? internal),
    );
  };
  for (const path of paths) await check(`path ${path.slice(0, 40)}`, get(path));
  for (const host of hosts)
    await check(
      `host ${JSON.stringify(host)}`,
      get("/", host),
      !/localhost\t|LOCALHOST/.test(host),
    );
  for (const header of headers)
    await check(`header ${header.slice(0, 40)}`, get("/", `${local}\r\n${header}`));
  for (const method of methods)
    await check(`method ${method.slice(0, 10)}`, get("/", local, method), true);
  for (const text of raw) await check(`raw ${JSON.stringify(text.slice(0, 20))}`, text);
  const before = [filesOf(pid), memoryOf(pid)];
  // Clients that disconnect early, that read nothing, and that send nothing.
  for (let i = 0; i < 400; i++) {
    const socket = await opened(port);
    socket.write(get(asset, `${local}\r\nSec-Fetch-Site: same-origin`));
    if (i % 2) socket.once("data", () => socket.destroy());
    else socket.destroy();
    note(area, "a reader that leaves", undefined);
  }
  const idle: Socket[] = [];
  for (let i = 0; i < 300; i++) {
    const socket = await opened(port);
    socket.pause();
    socket.write(
      i % 3 === 0
        ? "GET / HT"
        : get(asset)
            .replace("Connection: close\r\n", "")
            .repeat(i % 3 === 1 ? 1 : 50),
    );
    idle.push(socket);
    note(area, "a reader that does not read", undefined);
  }
  const live = await ask(port, get("/"));
  note(
    area,
    "an ordinary reader next to them",
    live.status === 200 ? undefined : `lost: status ${live.status}`,
    false,
  );
  for (const socket of idle) socket.destroy();
  await pause(2000);
  const after = [filesOf(pid), memoryOf(pid)];
  note(
    area,
    "descriptors",
    after[0] > before[0] + 5 ? `wrong: ${before[0]} → ${after[0]} open files` : undefined,
    false,
  );
  console.log(
    `  studio: open files ${before[0]} → ${after[0]}, memory ${before[1].toFixed(0)} → ${after[1].toFixed(0)} MB`,
  );
  const socket = await opened(port); // an open connection does not keep the server from ending
  child.kill("SIGINT");
  await Promise.race([new Promise((resolve) => child.once("exit", resolve)), pause(5000)]);
  note(
    area,
    "Ctrl-C with an open connection",
    child.exitCode === null && child.signalCode === null ? "wrong: no end" : undefined,
    false,
  );
  socket.destroy();
  child.kill("SIGKILL");
}
