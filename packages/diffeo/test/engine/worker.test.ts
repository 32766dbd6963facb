/** Sessions on a separate thread: the same numbers without blocking the caller's thread. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { describe, expect, it, vi } from "vitest";
import { built } from "../../../../test/build.ts";
import {
  compile,
  log,
  matmul,
  type NdArray,
  ndarray,
  sub,
  sum,
  type Tensor,
  tanh,
} from "../../src/index.ts";

const SIZE = 512;

/** Some hundredths of a second of work on one core. */
function long(x: Tensor): Tensor {
  let y = x;
  for (let i = 0; i < 8; i++) y = tanh(matmul(y, x));
  return y;
}

const matrix = (): NdArray => ({
  shape: [SIZE, SIZE],
  dtype: "float32",
  data: Float32Array.from({ length: SIZE * SIZE }, (_, i) => Math.sin(i) / 16),
});

const bytes = ({ data }: NdArray): Buffer =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength);

/**
 * Exit status and output of a program on the library as it is published, in a process of its own. A
 * run of its function takes several times the 20 ms after which something happens in the middle of
 * it.
 */
async function program(body: string): Promise<{ readonly code: number; readonly output: string }> {
  const source = `
    import { compile, matmul, tanh } from ${JSON.stringify(join(built(), "packages", "diffeo", "dist", "index.js"))};
    const long = (x) => { let y = x; for (let i = 0; i < 24; i++) y = tanh(matmul(y, x)); return y; };
    const f = compile(long, [[${SIZE}, ${SIZE}]], { worker: true, threads: 1 });
    const x = new Float32Array(${SIZE * SIZE}).fill(0.01);
    const soon = () => new Promise((resolve) => setTimeout(resolve, 20));
    ${body}`;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--input-type=module",
      "--eval",
      source,
    ]);
    return { code: 0, output: stdout.trim() };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: `${stdout}${stderr}`.trim() };
  }
}

describe("a function compiled for a worker", () => {
  it("does not block the caller's thread, and gives the same numbers as that thread", async () => {
    const [there, here] = [true, false].map((worker) =>
      compile(long, [[SIZE, SIZE]], { worker, threads: 1 }),
    );
    const x = matrix();
    /** A result, and how often the event loop turned until it came. */
    const counted = async (f: typeof there): Promise<readonly [NdArray, number]> => {
      await f(x);
      let [turns, waiting] = [0, true];
      const turn = (): void => {
        turns++;
        if (waiting) setImmediate(turn);
      };
      setImmediate(turn);
      const result = await f(x);
      waiting = false;
      return [result, turns];
    };
    const [[result, during], [expected, blocked]] = [await counted(there), await counted(here)];
    // A run on the thread itself is a turn or a few, however long it takes.
    expect(blocked).toBeLessThan(10);
    expect(during).toBeGreaterThan(10 * blocked);
    expect(bytes(result).equals(bytes(expected))).toBe(true);
    await Promise.all([there.dispose(), here.dispose()]);
  });

  it("does not detach the caller's arrays, also for a view of a larger buffer", async () => {
    const f = compile((x: Tensor) => sum(x), [[3]], { worker: true, device: "onnxruntime" });
    const buffer = new Float32Array([9, 1, 2, 3, 9]);
    const window = buffer.subarray(1, 4);
    expect((await f(window)).data).toEqual(Float32Array.of(6));
    expect([...buffer]).toEqual([9, 1, 2, 3, 9]);
    expect(window.length).toBe(3);
    await f.dispose();
  });

  it("serves every batch shape on one thread", async () => {
    const f = compile((x: Tensor) => sum(x, -1), [[null, 2]], {
      worker: true,
      type: "float64",
      device: "onnxruntime",
    });
    const results = await Promise.all([f([[1, 2]]), f([[1, 2], [3, 4]]), f([[5, 6]])]); // biome-ignore format: a row a sample
    expect(results.map((r) => [...(r.data as Float64Array)])).toEqual([[3], [3, 7], [11]]);
    await f.dispose();
  });

  it("raises the same errors as without a worker", async () => {
    const attempt = async (worker: boolean): Promise<unknown[]> => {
      const options = { worker, checkFinite: true } as const;
      const missing = compile((x: Tensor) => sum(x), [[2]], { ...options, device: "cuda" });
      const bad = compile((x: Tensor) => log(sub(x, 1)), [[2]], options);
      const messages = await Promise.all(
        [missing([1, 2]), bad([0, 2]), bad([1, 2, 3] as never)].map((p) =>
          p.catch((e: Error) => e.message),
        ),
      );
      await Promise.all([missing.dispose(), bad.dispose()]);
      return messages;
    };
    expect(await attempt(true)).toEqual(await attempt(false));
  });

  it("rejects its calls after the thread has died, and can still be disposed", async () => {
    const posts = vi.spyOn(Worker.prototype, "postMessage");
    const f = compile((x: Tensor) => sum(x), [[null]], { worker: true, device: "onnxruntime" });
    await f([1, 2]);
    await (posts.mock.contexts[0] as Worker).terminate();
    posts.mockRestore();
    const refusal = {
      kind: "device",
      message: expect.stringMatching(/worker thread ended.*Compile the function again/),
    };
    await expect(f([1, 2])).rejects.toMatchObject(refusal);
    await expect(f([1, 2, 3])).rejects.toMatchObject(refusal);
    await f.dispose();
  });

  it("rejects running calls when it is disposed, and can be compiled again", async () => {
    const f = compile(long, [[SIZE, SIZE]], { worker: true, threads: 1 });
    await f(matrix());
    const running = f(matrix());
    const rejected = expect(running).rejects.toThrow(/disposed while it was running/);
    await f.dispose();
    await rejected;
    await expect(f(matrix())).rejects.toThrow(/is disposed/);
    const again = compile((x: Tensor) => sum(x), [[2]], { worker: true, device: "onnxruntime" });
    expect((await again(ndarray([1, 2]))).data).toEqual(Float32Array.of(3));
    await again.dispose();
  });
});

describe("a process with a worker", () => {
  it("ends by itself when the worker is idle, also without dispose", async () => {
    expect(await program(`await f(x); console.log("done");`)).toEqual({ code: 0, output: "done" });
  });

  it("waits until the worker has answered", async () => {
    expect(await program(`f(x).then(() => console.log("answered"));`)).toEqual({
      code: 0,
      output: "answered",
    });
  });

  it("exits with its status during a run", async () => {
    expect(await program("await f(x); f(x); await soon(); process.exit(130);")).toEqual({
      code: 130,
      output: "",
    });
  });

  it("ends after a disposal during a run", async () => {
    const body = `await f(x); f(x).catch((e) => console.log(e.kind)); await soon(); await f.dispose(); console.log("free");`;
    expect(await program(body)).toEqual({ code: 0, output: "disposed\nfree" });
  });
});
