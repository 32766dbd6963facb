/**
 * Fits of tables that take several goes: runs that are killed, several seeds, maps that are chosen.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { key, normal } from "diffeo/random";
import { parseTableModel } from "diffeo-tables";
import { beforeAll, describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo, diffeoWith, startDiffeo } from "../run.ts";

const { at } = testFolder("runs");
const sinh = { kind: "sinh", centre: [0], scale: [3] };
const bytesOf = (name: string): Buffer => readFileSync(at(name));

const fit = (out: string, ...more: readonly string[]): string[] => [
  ...["table", "fit", at("rows.csv"), "--out", at(out), "--no-evaluate", "--threads", "1"],
  ...more,
];

beforeAll(() => {
  const { data } = normal(key("rows"), [200, 2], { dtype: "float64" });
  const rows = Array.from(
    { length: 200 },
    (_, i) => `${data[2 * i]},${data[2 * i + 1] + data[2 * i]}`,
  );
  writeFileSync(at("rows.csv"), `a,b\n${rows.join("\n")}\n`);
});

describe("a run in a folder", () => {
  it("ends with the same model, whether it was killed or not", async () => {
    const whole = fit("whole.model", "--steps", "4");
    const parts = fit("parts.model", "--steps", "4", "--run", at("run"));
    expect((await diffeo(...whole)).code).toBe(0);
    const { child, ended } = startDiffeo(...parts);
    const checkpoints = (): string[] =>
      existsSync(at("run/seed-0"))
        ? readdirSync(at("run/seed-0")).filter((name) => /^step-\d+\./.test(name))
        : [];
    while (checkpoints().length === 0 && child.exitCode === null)
      await new Promise((done) => setTimeout(done, 5));
    child.kill("SIGKILL");
    await ended;
    expect(existsSync(at("parts.model"))).toBe(false);
    const again = await diffeo(...parts);
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(bytesOf("parts.model").equals(bytesOf("whole.model"))).toBe(true);
    // A run with other settings cannot be continued.
    const other = await diffeo(...fit("other.model", "--steps", "5", "--run", at("run")));
    expect(other.code).toBe(2);
    expect(other.stderr).toContain("was started with steps = 4, but now it is 5");
  });
});

describe("the stored maps of a run", () => {
  it.each([
    [
      "are not in a valid file",
      "{",
      /maps\.json is not a valid file of chosen maps: it is not JSON\. Move it away/,
    ],
    ["are nothing", "null", /maps\.json is not a valid file of chosen maps: expected/],
    [
      "lack their columns",
      '{"columns":null}',
      /maps\.json is not a valid file of chosen maps: at data, expected/,
    ],
    [
      "are those of other rows",
      '{"data":"3 rows","asked":{},"seed":0,"network":"diffusion","columns":{},"maps":[]}',
      /the maps of .* were chosen for other rows or settings/,
    ],
  ])("are refused if they %s", async (_, text, message) => {
    mkdirSync(at("maps"), { recursive: true });
    writeFileSync(at("maps/maps.json"), text);
    const { code, stderr } = await diffeo(
      ...fit("maps.model", "--steps", "4", "--map", "auto", "--run", at("maps")),
    );
    expect(code).toBeGreaterThan(0);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});

describe("a run with maps that short fits chose", () => {
  it("continues with the stored maps", async () => {
    const maps = [{ map: "affine flow", gain: 0.25, error: 0.1, kept: true }];
    const columns = {
      a: { kind: "real" },
      b: { kind: "bent", domain: { kind: "real" }, bend: sinh },
    };
    // Rows and columns as those of the run above.
    const { data, columns: asked } = JSON.parse(readFileSync(at("run/seed-0/config.json"), "utf8"));
    mkdirSync(at("mapped"));
    writeFileSync(
      at("mapped/maps.json"),
      JSON.stringify({ data, asked, seed: 0, network: "diffusion", columns, flow: "affine", maps }),
    );
    const again = fit(
      "mapped.model",
      "--map",
      "auto",
      "--run",
      at("mapped"),
      "--steps",
      "1",
      "--no-given",
      "--json",
    );
    const { code, stdout, stderr } = await diffeo(...again);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout).maps).toEqual(maps);
    const { domain, flow } = parseTableModel(bytesOf("mapped.model"));
    expect(domain.parts.map((part) => part.domain.spec)).toEqual(Object.values(columns));
    expect(flow?.network.kind).toBe("couplings");
  });
});

describe("a fit with a time limit", () => {
  it("takes as many steps as the time allows", async () => {
    const asked = fit("minutes.model", "--minutes", "0.0001", "--no-given", "--json");
    const { step } = JSON.parse((await diffeo(...asked)).stdout);
    expect(step).toBeLessThan(20);
    const { stdout } = await diffeo(...fit("said.model", "--minutes", "0.0001", "--no-given"));
    expect(stdout).toMatch(
      /the time was enough for (1 step|\d\d? steps), but 2000 are usual for so many rows: use more --minutes/,
    );
    // The specified number of steps counts, not the usual one.
    const two = await diffeo(
      ...fit("two.model", "--minutes", "0.0001", "--steps", "2", "--no-given"),
    );
    expect([two.code, two.stdout]).toEqual([0, expect.not.stringContaining("the time was enough")]);
  });
});

it("a fit of 150 columns ends within two seconds of an interruption", async () => {
  const { data } = normal(key("wide"), [60, 150], { dtype: "float64" });
  const names = Array.from({ length: 150 }, (_, j) => `c${j}`);
  const rows = Array.from({ length: 60 }, (_, i) => data.slice(i * 150, (i + 1) * 150).join(","));
  writeFileSync(at("wide.csv"), `${names}\n${rows.join("\n")}\n`);
  const stop = new AbortController();
  const words = ["table", "fit", at("wide.csv"), "--out", at("wide.model"), "--threads", "1"];
  const ended = diffeoWith({ signal: stop.signal }, ...words);
  await new Promise((resolve) => setTimeout(resolve, 700));
  const began = process.cpuUsage();
  stop.abort();
  expect((await ended).code).toBe(130);
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1e6).toBeLessThan(2);
});

describe("several seeds", () => {
  it("of rows with missing values are fitted by shards to the same model", async () => {
    const [names, ...lines] = readFileSync(at("rows.csv"), "utf8").trimEnd().split("\n");
    const holes = lines
      .slice(0, 60)
      .map((line, i) => (i % 5 === 0 ? line.replace(/,.*/, ",") : line));
    writeFileSync(at("holes.csv"), `${[names, ...holes].join("\n")}\n`);
    const asked = [
      "table",
      "fit",
      at("holes.csv"),
      "--no-evaluate",
      "--threads",
      "1",
      "--steps",
      "1",
      "--seeds",
      "2",
    ];
    expect(await diffeo(...asked, "--out", at("holes.model"))).toMatchObject({ code: 0 });
    expect(await diffeo(...asked, "--out", at("shards.model"), "--shard", "1/1")).toMatchObject({
      code: 0,
    });
    expect(await diffeo(...asked, "--out", at("shards.model"))).toMatchObject({ code: 0 });
    expect(bytesOf("shards.model").equals(bytesOf("holes.model"))).toBe(true);
    // A flow depends on the cells that one seed completed, so other seeds would have to wait for it.
    const flow = await diffeo(
      ...asked,
      "--map",
      "affine-flow",
      "--out",
      at("flow.model"),
      "--shard",
      "1/2",
    );
    expect([flow.code, flow.stderr]).toEqual([
      2,
      expect.stringContaining("so the seeds cannot share one flow"),
    ]);
  });

  it("are fitted one by one, with the specified map and network, and the best on held-out rows is kept", async () => {
    const { code, stdout } = await diffeo(
      ...fit("seeds.model", "--steps", "1", "--no-given", "--seeds", "3", "--seed", "8", "--json"),
      ...["--map", "affine-flow", "--network", "transformer"],
    );
    expect(code).toBe(0);
    const { seeds, seed, validation } = JSON.parse(stdout);
    expect(seeds.map((one: { seed: number }) => one.seed)).toEqual([8, 9, 10]);
    const least = Math.min(...seeds.map((one: { validation: number }) => one.validation));
    expect(validation).toBe(least);
    // Neither the first nor the last of them.
    expect([seed, seeds[1].validation]).toEqual([9, least]);
    const { flow, network } = parseTableModel(readFileSync(at("seeds.model")));
    expect([flow?.network.kind, network.kind]).toEqual(["couplings", "columns"]);
  });
});

describe("a network of masked cells", () => {
  it("supports all commands without a second network, and no maps", async () => {
    const asked = fit("masked.model", "--network", "masked", "--steps", "4", "--json");
    expect(await diffeo(...asked)).toMatchObject({ code: 0 });
    const model = ["--model", at("masked.model"), "--threads", "1"];
    const drawn = await diffeo("table", "sample", ...model, "--count", "3", "--given", "a=0.25");
    expect(drawn.stdout).toMatch(/^a,b\n(0\.25,-?\d[^\n]*\n){3}$/);
    writeFileSync(at("torn.csv"), "a,b\n0.5,\n,1.125\n");
    const filled = await diffeo("table", "complete", at("torn.csv"), ...model);
    expect(filled.stderr).toBe("");
    expect(filled.stdout).toMatch(/^draw,a,b\n1,0\.5,-?\d[^\n]*\n1,-?\d[^\n]*,1\.125\n$/);
    const scored = await diffeo("table", "likelihood", at("torn.csv"), ...model, "--json");
    expect(Number.isFinite(JSON.parse(scored.stdout).mean)).toBe(true);
    const exported = await diffeo("table", "export", ...model.slice(0, 2), "--out", at("m.onnx"));
    expect(exported.stderr).toContain(
      "Fit the table by diffusion: --network diffusion of table fit",
    );
    const mapped = await diffeo(...fit("no.model", "--network", "masked", "--map", "auto"));
    expect(mapped.stderr).toContain("--map applies to diffusion networks, and --network is masked");
  });

  it("is fitted to 1,000 rows with labels unless an option sets diffusion", async () => {
    const lines = Array.from(
      { length: 1000 },
      (_, i) => `${(i * 7) % 13}.5,${(i % 97) / 9},${"xyz"[i % 3]}`,
    );
    writeFileSync(at("mixed.csv"), `m,n,l\n${lines.join("\n")}\n`);
    const fitted = async (out: string, ...more: readonly string[]) => {
      const rest = fit(out, "--steps", "1", "--no-given", ...more).slice(3);
      const { code, stdout, stderr } = await diffeo("table", "fit", at("mixed.csv"), ...rest);
      expect(code).toBe(0);
      const { bins } = parseTableModel(bytesOf(out));
      return { isMasked: bins !== undefined, line: /^network: .*$/m.exec(stdout)?.[0], stderr };
    };
    expect(await fitted("auto.model")).toMatchObject({
      isMasked: true,
      line: "network: masked cells (labels, and 1,000 rows or more); --network diffusion fits diffusion, which table export and --map need",
    });
    expect(await fitted("flow.model", "--map", "affine-flow")).toMatchObject({
      isMasked: false,
      line: "network: diffusion (--map affine-flow needs it)",
    });
    expect(await fitted("set.model", "--network", "residual")).toMatchObject({
      isMasked: false,
      stderr: expect.stringContaining("--network residual is now called --network diffusion"),
    });
    const few = await diffeo(...fit("few.model", "--steps", "1"));
    expect(few.stdout).toContain("network: diffusion (fewer than 1,000 rows)\n");
    expect(few.stdout).toContain("fewer than 1,000 rows: --choose distance --all-rows gives");
  });
});
