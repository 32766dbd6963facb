/** Rules in words: sites and sums, invalid rules, and guidance of grids. */
import { describe, expect, it } from "vitest";
import {
  freshModel,
  type GroupSum,
  groupSums,
  meets,
  parseRules,
  sampleGrids,
  siteSum,
  standardise,
} from "../../src/categorical/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import { add, logSoftmax, reshape, type Tensor, take } from "../../src/graph/index.ts";
import { key, normal } from "../../src/random/index.ts";

const symbols = ["1", "2", "3", "4"];
const square = { grid: [4, 4], symbols };
const sumsIn = (text: string): readonly GroupSum[] =>
  parseRules(text, square).conditions.flatMap(({ sums }) => sums);

describe("parseRules", () => {
  it("reads known sites, groups, sums and counts", () => {
    const { known, conditions } = parseRules(
      "(1, 3) = 2; (2, *) + (4, 4) = 4 # a remark\n\nboxes 2x2 different\nsum (1:2, 1) <= 5; count 3 in all > 2",
      square,
    );
    expect([...known]).toEqual([4, 4, 1, 4, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 3]);
    expect(conditions.map(({ text }) => text)).toEqual([
      "boxes 2x2 different",
      "sum (1:2, 1) <= 5",
      "count 3 in all > 2",
    ]);
    const [boxes, sum, count] = conditions.map(({ sums }) => sums);
    expect(boxes).toHaveLength(4 * 4);
    expect(boxes[5]).toEqual({ sites: [2, 3, 6, 7], values: [0, 1, 0, 0], least: 1, most: 1 });
    expect(sum).toEqual([{ sites: [0, 4], values: [1, 2, 3, 4], most: 5 }]);
    expect(count[0]).toMatchObject({ values: [0, 0, 1, 0], least: 3 });
    expect(sumsIn("(1, 1:3) different")[0]).toEqual({
      ...{ sites: [0, 1, 2], values: [1, 0, 0, 0], most: 1 },
    });
  });

  it("checks a grid", () => {
    const latin = [0, 1, 2, 3, 1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2];
    const hold = (text: string): boolean =>
      parseRules(text, square).conditions.every((condition) => meets(latin, condition));
    expect(hold("rows different; columns different; sum (1, *) = 10; count 1 in all = 4")).toBe(
      true,
    );
    expect(hold("boxes 2x2 different")).toBe(false);
    expect(hold("sum (1:2, 1:2) < 8")).toBe(false);
    expect(hold("sum (1:2, 1:2) <= 8")).toBe(true);
  });

  it.each([
    ["(1, 5) = 2", /line 1, .*not a place along 4 sites.*Use 1 to 4/s],
    ["\n(1) = 2", /line 2, .*has 1 places.*Give 2/s],
    ["(1, 1) = 7", /unknown class "7".*1, 2, 3, 4/s],
    ["(1, 1) = 1; (1, *) = 2", /a previous rule sets the site to 1/],
    ["all different", /16 sites cannot differ in 4 classes/],
    ["sum (1, *) = 20", /no grid meets it.*4 to 16/s],
    ["rows", /it is not a rule/],
    ["rows even", /it is not a rule/],
    ["boxes 3x2 different", /boxes \[3, 2\]/],
  ])("refuses %j", (text, message) => {
    expect(() => parseRules(text, square)).toThrow(message);
  });

  it("refuses a sum of classes without values, and rows of a sequence", () => {
    const words = { grid: [3], symbols: ["a", "b"] };
    expect(() => parseRules("sum all = 2", words)).toThrow("not all integers");
    expect(() => parseRules("rows different", words)).toThrow("has no rows");
  });
});

it("bounds many sums over parts of a grid as a loop over them does", async () => {
  const sums = sumsIn("rows different; sum (1:2, 1:2) >= 7; sum all < 30; count 4 in (*, 2) = 1");
  const x = normal(key("logits"), [3, 4, 4, 4], { dtype: "float64" });
  const [together, apart] = await evaluate((z: Tensor) => {
    const log = logSoftmax(z);
    const each = sums.map(({ sites, ...sum }) =>
      siteSum(take(reshape(log, [3, 16, 4]), [...sites], 1), sum),
    );
    return [groupSums(log, sums), each.reduce(add)];
  }, x);
  together.data.forEach((v, i) => {
    expect(Number(v)).toBeCloseTo(Number(apart.data[i]), 9);
  });
});

it("guides grids of independent sites to rules that few of a thousand satisfy", async () => {
  // A network without training gives every site its own likelihood: all classes as likely as any.
  const model = freshModel(
    {
      parameterisation: "posterior",
      sees: "likelihoods",
      encoding: standardise([0.25, 0.25, 0.25, 0.25], { grid: [4, 4], map: "isometricLogRatio" }),
      network: {
        ...{ kind: "exchangeable", channels: 4, grid: [4, 4], width: 4, layers: 1 },
        groups: [[[0, 1, 2, 3]]],
      },
    },
    key(1),
  );
  const rules = parseRules("(1, 1) = 3; (1, *) different; sum (2, *) = 6", square);
  const COUNT = 64;
  const share = async (strength: number): Promise<number> => {
    const drawn = await sampleGrids(model, {
      ...{ count: COUNT, key: key("led"), steps: 40, solver: "dpmSolver2MSde", rules, strength },
    });
    let met = 0;
    for (let i = 0; i < COUNT; i++) {
      const grid = drawn.subarray(16 * i, 16 * i + 16);
      expect(grid[0]).toBe(2);
      if (rules.conditions.every((condition) => meets(grid, condition))) met++;
    }
    return met / COUNT;
  };
  // By chance 3!/4³ · 10/4⁴ = .004.
  expect(await share(0)).toBeLessThan(0.05);
  // Bayes' rule for sites that were independent given x_t; the same rule three times as strong.
  expect(await share(1)).toBeGreaterThan(0.2);
  expect(await share(3)).toBeGreaterThan(0.45);
});
