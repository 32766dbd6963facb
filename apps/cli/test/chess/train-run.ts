/** A training run small enough for tests, as a command: its options, and what its folder holds. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { key } from "diffeo/random";
import { boardAt, formatFullFen, playouts } from "diffeo-chess";

/** One report, which comes after 50, is not the last thing a run does. */
export const STEPS = 60;

/** Positions to train on, as a FEN list in a folder. */
export function writeBoards(folder: string): string {
  const positions = playouts(64, key("training"));
  const path = join(folder, "boards.fen");
  writeFileSync(
    path,
    Array.from({ length: 64 }, (_, i) => `${formatFullFen(boardAt(positions, i))}\n`).join(""),
  );
  return path;
}

/** diffeo chess train … of a run of 60 steps that takes few seconds. */
export const trainWords = (data: string, out: string, ...more: readonly string[]): string[] => [
  ...[
    "chess",
    "train",
    "--data",
    data,
    "--out",
    out,
    "--steps",
    `${STEPS}`,
    "--batch",
    "4",
    "--threads",
    "1",
  ],
  ...[
    "--width",
    "16",
    "--multipliers",
    "1,1",
    "--blocks",
    "1",
    "--attention",
    "1",
    "--warmup",
    "5",
  ],
  ...more,
];

/** The steps a folder has checkpoints of. */
export const checkpointsOf = (folder: string): number[] =>
  readdirSync(folder)
    .flatMap((name) => /^step-(\d+)\.safetensors$/.exec(name)?.slice(1).map(Number) ?? [])
    .sort((a, b) => a - b);

export const temporariesOf = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.endsWith(".tmp"));

/** What a finished run has come to, byte for byte. */
export const outcomeOf = (folder: string): Record<string, Buffer> =>
  Object.fromEntries(
    [`step-${STEPS}.safetensors`, "model.safetensors"].map((name) => [
      name,
      readFileSync(join(folder, name)),
    ]),
  );

/** Waits until something is so, looking every so many milliseconds. */
export async function until(so: () => boolean, every: number): Promise<void> {
  while (!so()) await new Promise((resolve) => setTimeout(resolve, every));
}
