/** A board completed by particles. */
import { key } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { parseFen } from "../src/board/fen.ts";
import { SQUARES, UNKNOWN, unpack } from "../src/board/position.ts";
import { completeByParticles, openParticleBoards } from "../src/diffusion/particles.ts";
import { countedModel, tinyModel } from "./tiny.ts";

const board = parseFen("????k???/pppppppp/8/8/????????/8/PPPPPPPP/????K???", { unknown: true });
const options = { particles: 6, steps: 4, key: key(3), threads: 1 } as const;

describe("completeByParticles", () => {
  it("keeps known squares, counts how many were right before, and gives the same boards for the same key and any batch size", async () => {
    const [one, other] = await Promise.all(
      [6, 3].map((batch) => completeByParticles(tinyModel(), board, { ...options, batch })),
    );
    const made = unpack(one.positions);
    expect(made).toHaveLength(6 * SQUARES);
    made.forEach((k, i) => {
      if (board[i % SQUARES] !== UNKNOWN) expect(k).toBe(board[i % SQUARES]);
    });
    expect(unpack(other.positions)).toEqual(made);
    expect(one.kept).toBeGreaterThan(0);
    // A network that learned nothing holds some of them.
    expect(one.kept).toBeLessThan(1);
    expect(one.ess).toBeGreaterThanOrEqual(1);
    expect(one.scoreEvaluations).toBe(5);
  });

  it("does not trace the network again for another board, and gives the result of a fresh one", async () => {
    const model = tinyModel();
    const { counted, traced } = countedModel(model);
    const complete = openParticleBoards(counted, { threads: 1 });
    const { threads: _, ...call } = options;
    const first = await complete(board, call);
    const compiled = traced();
    const other = parseFen("k???????/8/8/8/????????/8/8/K???????", { unknown: true });
    const second = await complete(other, { ...call, key: key(4), steps: 3 });
    expect(traced()).toBe(compiled);
    await complete.dispose();
    expect(first).toEqual(await completeByParticles(model, board, options));
    expect(second).toEqual(
      await completeByParticles(model, other, { ...options, key: key(4), steps: 3 }),
    );
    await expect(complete(board, call)).rejects.toThrow("this particle sampler is disposed");
  });

  it("depends on the guidance and the drift scale", async () => {
    const plain = await completeByParticles(tinyModel(), board, options);
    for (const how of [{ guidance: 4 }, { driftScale: 1.3 }])
      expect(
        (await completeByParticles(tinyModel(), board, { ...options, ...how })).positions,
      ).not.toEqual(plain.positions);
  });

  it("needs a network that predicts posteriors, and a complete board", async () => {
    await expect(completeByParticles(tinyModel("noise"), board, options)).rejects.toThrow(
      /has no posterior/,
    );
    await expect(completeByParticles(tinyModel(), board.slice(1), options)).rejects.toThrow(
      /63 squares/,
    );
  });
});
