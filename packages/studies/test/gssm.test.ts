/** The sandwich formula against closed forms, and against estimates from samples. */
import { key } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { models } from "../src/gssm/models.ts";
import { theoryObjectives } from "../src/gssm/objectives.ts";
import { runGssm } from "../src/gssm/run.ts";
import { sandwich } from "../src/gssm/sandwich.ts";
import { gaussLegendre } from "../src/problem/gauss-legendre.ts";

const at = (model: keyof typeof models, loss: keyof typeof theoryObjectives, n: number) =>
  sandwich(theoryObjectives[loss](n), models[model], n, key(1));

describe("the asymptotic variance of score matching", () => {
  it.each([1, 2, 10])("is that of maximum likelihood for a Gaussian, n = %i", async (n) => {
    expect((await at("gaussian-location", "sm", n)).efficiency).toBeCloseTo(1, 4);
    expect((await at("gaussian-scale", "sm", n)).efficiency).toBeCloseTo(1, 4);
  });

  it("has Fisher informations in closed form", async () => {
    // Scale of a Gaussian: 2n. Student: location (ν + n)/(ν + n + 2), scale 2nν/(ν + n + 2).
    expect((await at("gaussian-scale", "sm", 10)).information).toBeCloseTo(20, 3);
    expect((await at("student-location", "sm", 2)).information).toBeCloseTo(7 / 9, 4);
    expect((await at("student-scale", "sm", 10)).information).toBeCloseTo(100 / 17, 4);
  });

  it("is n times as large by one slice per point, for the scale of a Gaussian", async () => {
    // ∂ℓ = 2(n − (v·x)²) with v·x ~ N(0, n) for signs v, against 2(n − ‖x‖²): 8n² against 8n.
    const { efficiency, slices } = await at("gaussian-scale", "ssm", 10);
    expect(efficiency).toBeGreaterThan(0.09);
    expect(efficiency).toBeLessThan(0.11);
    expect(slices).toBeCloseTo(0.9, 1);
  });

  it.each([1, 2, 10])(
    "is that of maximum likelihood for the scale of a Student distribution with C = (1 + r²/ν)², n = %i",
    async (n) => {
      expect((await at("student-scale", "sm, (1 + r²/ν)²", n)).efficiency).toBeCloseTo(1, 3);
      expect((await at("student-scale", "sm", n)).efficiency).toBeLessThan(0.7);
    },
  );

  it("is never below that of maximum likelihood", async () => {
    for (const model of ["student-location", "mixture-distance"] as const)
      for (const loss of ["sm", "gssm-vr", "fourier-vr", "sm, (1 + r²/ν)²"] as const)
        expect((await at(model, loss, 2)).efficiency).toBeLessThan(1.001);
  });

  it("is that of estimates from samples", async () => {
    const task = { model: "student-scale", objective: "gssm-vr", n: 2 } as const;
    const context = { device: "cpu", file: async () => new Uint8Array(), report: () => undefined };
    const estimates: number[] = [];
    for (let seed = 0; seed < 4; seed++) {
      const result = await runGssm({ part: "check", ...task, seed }, context);
      if ("squared" in result) estimates.push(...result.squared);
    }
    const { curvature, noise } = await at(task.model, task.objective, 2);
    const variance = noise / curvature ** 2;
    const seen = estimates.reduce((a, b) => a + b, 0) / estimates.length;
    // 80 estimates: a chi-squared of 80 degrees, whose deviation is 16 %.
    expect(seen / variance).toBeGreaterThan(0.6);
    expect(seen / variance).toBeLessThan(1.5);
  });
});

describe("gaussLegendre", () => {
  it("integrates polynomials of degree 2n − 1", () => {
    const integral = gaussLegendre(5).reduce((s, { at: x, weight }) => s + weight * x ** 8, 0);
    expect(integral).toBeCloseTo(2 / 9, 12);
  });
});
