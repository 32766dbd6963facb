/** Locks of folders, and files of processes that have ended. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { plainScripts } from "../../../../test/scripts.ts";
import { inFolder, onFile, tidyTemporaries, writeFileAtomic } from "../../src/node/index.ts";
import { beganAt, isAlive, processSpace } from "../../src/node/process.ts";

const { at, folder } = testFolder("lock");
const here = { host: hostname(), space: processSpace() };

/** The number of a process that has ended. */
const gone = Number(execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }));

describe("a folder", () => {
  const lock = at("run/.lock");
  const hold = (content: unknown): void => {
    mkdirSync(at("run"), { recursive: true });
    writeFileSync(lock, typeof content === "string" ? content : JSON.stringify(content));
  };

  it("is locked during the work, and free afterwards, however the work ends", async () => {
    const inside = await inFolder(at("new"), async () => {
      await expect(inFolder(at("new"), async () => 1)).rejects.toThrow(
        `${at("new")} is in use by process ${process.pid}. Wait until it is done; if it is gone, delete ${at("new/.lock")}.`,
      );
      writeFileSync(at("new/result"), "");
      return readdirSync(at("new"));
    });
    expect(inside).toEqual([".lock", "result"]);
    expect(readdirSync(at("new"))).toEqual(["result"]);
    await expect(inFolder(at("new"), () => Promise.reject(new Error("odd")))).rejects.toThrow(
      "odd",
    );
    expect(readdirSync(at("new"))).toEqual(["result"]);
  });

  it("is removed if it is empty", async () => {
    await inFolder(at("deep/empty"), async () => {});
    expect(existsSync(at("deep/empty"))).toBe(false);
  });

  it.each([
    ["of a process that is gone", { pid: gone, ...here }],
    [
      "of another process with a number that is taken again",
      { pid: process.pid, ...here, began: "1" },
    ],
  ])("is taken over with the lock %s", async (_, holder) => {
    hold(holder);
    expect(await inFolder(at("run"), async () => JSON.parse(readFileSync(lock, "utf8")).pid)).toBe(
      process.pid,
    );
    expect(readdirSync(at("run"))).toEqual([]);
  });

  it.each([
    [
      "a live process here",
      { pid: process.pid, ...here, began: beganAt(process.pid) },
      /by process \d+\. /,
    ],
    ["any process elsewhere", { pid: gone, host: "elsewhere" }, /by process \d+ on elsewhere/],
    [
      "any process of another container with this host's name",
      { pid: gone, host: here.host, space: "another boot pid:[1]", began: "1" },
      /by process \d+ of another container or boot of /,
    ],
    ["who knows whom", "{", /in use by another/],
    ["who knows whom", { pid: "1" }, /in use by another/],
  ])("is not taken from %s", async (_, holder, message) => {
    hold(holder);
    await expect(inFolder(at("run"), async () => 1)).rejects.toThrow(message);
    expect(existsSync(lock)).toBe(true);
    rmSync(lock);
  });

  it("is given to one of many simultaneous processes, also over a stale lock", async () => {
    hold({ pid: gone, ...here });
    let most = 0;
    let inside = 0;
    const ended = await Promise.allSettled(
      Array.from({ length: 20 }, () =>
        inFolder(at("run"), async () => {
          most = Math.max(most, ++inside);
          await new Promise((resolve) => setTimeout(resolve, 50));
          inside--;
        }),
      ),
    );
    expect(most).toBe(1);
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});

/** A PID namespace of its own, as a container has; the host name is that of this one. */
const unshare = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
const hasNamespaces = spawnSync(unshare[0], [...unshare.slice(1), "true"]).status === 0;

it.runIf(hasNamespaces)("a live process of another PID namespace keeps its lock", async () => {
  const { script } = plainScripts({ script: new URL("./lock-holder.ts", import.meta.url) });
  const words = [...unshare.slice(1), process.execPath, script.pathname, at("shared")];
  const child = spawn(unshare[0], words, { stdio: ["pipe", "pipe", "inherit"] });
  const pid = Number(await new Promise((resolve) => child.stdout.once("data", resolve)));
  expect(pid).toBeLessThan(10); // numbers begin again in it
  await expect(inFolder(at("shared"), async () => 1)).rejects.toThrow(
    `is in use by process ${pid} of another container or boot of ${hostname()}. Wait until`,
  );
  child.stdin.end();
  await new Promise((resolve) => child.once("exit", resolve));
  expect(await inFolder(at("shared"), async () => 1)).toBe(1);
});

it("a file is made by one process at a time", async () => {
  await onFile(at("a.json"), () =>
    expect(onFile(at("a.json"), async () => 1)).rejects.toThrow("a.json is in use"),
  );
  await onFile(at("a.json"), () => onFile(at("b.json"), async () => 1));
  expect(readdirSync(folder).filter((name) => name.includes("lock"))).toEqual([]);
});

describe("partially written files", () => {
  const old = (name: string): void => {
    writeFileSync(at(`t/${name}`), "");
    utimesSync(at(`t/${name}`), 1, 1);
  };

  it("are removed only if they are old and their process has ended", async () => {
    mkdirSync(at("t"));
    old(`a.json.${gone}-0123abcd.diffeo.tmp`);
    const kept = [
      `a.json.${process.pid}-0123abcd.diffeo.tmp`,
      `b.${gone}.tmp`,
      `c.tmp`,
      `notes-${gone}`,
    ];
    for (const name of kept) old(name);
    writeFileSync(at(`t/a.json.${gone}-89abcdef.diffeo.tmp`), "");
    await tidyTemporaries(at("t"));
    expect(readdirSync(at("t")).sort()).toEqual(
      [...kept, `a.json.${gone}-89abcdef.diffeo.tmp`].sort(),
    );
    await tidyTemporaries(at("nowhere"));
  });

  it("of two writers of one process have different names", async () => {
    const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000));
    await Promise.all(texts.map((text) => writeFileAtomic(at("same"), text)));
    expect(texts).toContain(readFileSync(at("same"), "utf8"));
  });
});

it("a process is identified as alive by its number and start time", () => {
  expect(isAlive({ pid: process.pid })).toBe(true);
  expect(isAlive({ pid: process.pid, began: beganAt(process.pid) })).toBe(true);
  expect(isAlive({ pid: process.pid, began: "1" })).toBe(beganAt(process.pid) === undefined);
  expect(isAlive({ pid: gone })).toBe(false);
});
