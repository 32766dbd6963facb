/** Results of jobs of boards: read as they were written, and held to their job. */
import { expect, it } from "vitest";
import { boardsKind } from "../src/diffusion/boards-job.ts";

const about = {
  steps: 2,
  rejected: 0,
  scoreEvaluations: 3,
  exits: 0,
  clamps: 0,
  times: [1, 0.5, 0],
};
const boards = {
  ...about,
  positions: { count: 2, bytes: new Uint8Array(64).fill(0xcc) },
  trace: {
    times: [0.5, 0],
    frames: [1, 2].map((k) => new Uint8Array(2 * 64 * 13).fill(k)),
  },
};

it("serialise boards and frames exactly, and refuse bytes that are not boards", () => {
  const bytes = boardsKind.serialize(boards);
  expect(boardsKind.parse(bytes, "a result")).toEqual(boards);
  const { trace: _, ...plain } = boards;
  expect(boardsKind.parse(boardsKind.serialize(plain), "a result")).toEqual(plain);
  const other = bytes.slice();
  other[other.indexOf(10) + 1] = 0xff; // a class that no square has
  for (const wrong of [bytes.subarray(1), bytes.subarray(0, -1), other, new Uint8Array()])
    expect(() => boardsKind.parse(wrong, "a result")).toThrow("a result does not contain boards");
});

it("are checked for the number of boards, and for frames", () => {
  const job = { count: 2, frames: 2 } as never;
  const inputs = {} as never;
  expect(boardsKind.misfit(boards, job, inputs)).toBeUndefined();
  expect(boardsKind.misfit(boards, { count: 5, frames: 2 } as never, inputs)).toBe(
    "it has 2 boards, but the job has 5",
  );
  expect(boardsKind.misfit(boards, { count: 2 } as never, inputs)).toBe(
    "it has frames, but the job has none",
  );
});
