/** What every study holds to, and the statistics of pairs. */
import { isStudy, type StudyName, studies, studyNamed } from "diffeo-studies";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { boards, classesOf, colours, isLegal } from "../src/problem/colours.ts";
import { paired } from "../src/study/paired.ts";
import { rounded } from "../src/study/records.ts";

describe.each(Object.keys(studies) as StudyName[])("the study %s", (name) => {
  it("has tasks that are what it says, with names that differ and may be files", async () => {
    const study = await studyNamed(name);
    expect(study.name).toBe(name);
    const tasks = study.tasks(2);
    for (const task of tasks)
      expect(v.parse(study.task, JSON.parse(JSON.stringify(task)))).toEqual(task);
    const names = tasks.map(study.nameOf);
    expect(new Set(names).size).toBe(names.length);
    for (const each of names) expect(each).toMatch(/^[A-Za-z0-9-]+$/);
  });

  it("has ten seeds or more by default", async () => {
    expect((await studyNamed(name)).seeds).toBeGreaterThanOrEqual(10);
  });
});

describe("isStudy", () => {
  it("knows no names of objects", () => expect(isStudy("toString")).toBe(false));
});

describe("paired", () => {
  it("counts how often the first is lower, and all signs", () => {
    // Of 2³ signs, + + + and − − − alone reach the mean.
    expect(paired([1, 2, 3], [2, 4, 6])).toMatchObject({ count: 3, mean: -2, lower: 3, p: 0.25 });
    expect(paired([1, 2], [2, 1]).p).toBe(1);
  });
});

describe("rounded", () => {
  it("keeps six digits and integers", () =>
    expect(rounded({ a: 1.23456789, b: [1234567890] })).toEqual({ a: 1.23457, b: [1234567890] }));
});

describe("colours", () => {
  it("has the 18 boards of a cycle of four in three colours", () => {
    expect(boards.length).toBe(18);
    expect(boards.every(isLegal)).toBe(true);
  });

  it("has codes of mean 0 and variance 1 in each coordinate", () => {
    const { codes } = colours("stickBreaking");
    for (const i of [0, 1]) {
      const values = codes.map((code) => code[i]);
      expect(values.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 12);
      expect(values.reduce((a, b) => a + b * b, 0) / 3).toBeCloseTo(1, 12);
    }
  });

  it("reads the class of a site off its greatest coordinate", () =>
    expect(classesOf([0.98, 0.01, 0.01, 0.98, 0.01, 0.01, 0.5, 0.2])).toEqual([0, 1, 2, 0]));
});
