/** A training run whose numbers are lost says what to do in the command's words. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo } from "../run.ts";
import { writeBoards } from "./train-run.ts";

const { folder } = testFolder("diverged");

it("names the options to change, and exits with the code of numerical failure", async () => {
  const out = join(folder, "run");
  const small = [
    "--width",
    "8",
    "--multipliers",
    "1,1",
    "--blocks",
    "1",
    "--attention",
    "1",
    "--batch",
    "8",
  ];
  const often = ["--steps", "20", "--save-every", "1", "--samples-every", "0", "--warmup", "1"];
  const { stderr, code } = await diffeo(
    "chess",
    "train",
    "--data",
    writeBoards(folder),
    "--out",
    out,
    ...small,
    ...often,
    "--rate",
    "1e30",
    "--clip",
    "1e30",
  );
  expect(stderr).toMatch(/Start a run in another folder with a smaller --rate or --clip/);
  expect(stderr.includes(`--init ${join(out, "model.safetensors")}`)).toBe(
    existsSync(join(out, "model.safetensors")),
  );
  expect(code).toBe(3);
});
