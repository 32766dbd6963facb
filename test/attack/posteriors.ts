/**
 * Posteriors: models that loop, throw, allocate or return wrong values, and data from pipes that
 * hang or change.
 */
import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, existsSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { at, attack, diffeo, faultOf, type How, note } from "./attack.ts";

const area = "posteriors";
const head = `import { normal, halfNormal, gamma, dirichlet, categorical } from "diffeo/distribution";
import { model } from "diffeo/mcmc";
import * as g from "diffeo/graph";
import { positive, real } from "diffeo/domain";
`;
const statements = (body: string): string =>
  `export default model(({ parameter, observe, derive }, data) => {\n${body}\n});`;
const layer = (density: string): string =>
  `export const parameters = { x: real() };\nexport const logDensity = ({ x }, data) => ${density};`;
const x = 'const x = parameter("x", normal(0, 1));';

/** Invalid models; each must end in a one-sentence message. */
const wrong: Readonly<Record<string, string>> = {
  "throws a number": "throw 7;",
  "throws null": "throw null;",
  "throws a getter": 'throw { get message() { throw new Error("again"); } };',
  "throws in a statement": statements(`${x} throw new Error("mine\\u001b[2J");`),
  "throws a promise": statements(`${x} throw Promise.reject(new Error("late"));`),
  "rejects later": `setTimeout(() => Promise.reject(new Error("late")), 10);\n${statements(x)}`,
  exits: "process.exit(0);",
  "exits in a statement": statements(`${x} process.exit(0);`),
  "aborts a timer": `setTimeout(() => { throw new Error("late"); }, 50);\n${statements(x)}`,
  "changes Array": `Array.prototype.map = () => { throw new Error("mine"); };\n${statements(x)}`,
  "changes Math": `Math.log = () => NaN;\n${statements(x)}`,
  "a proxy": "export default new Proxy({}, { get() { throw new Error('mine'); } });",
  "a class": "export default class { parameters = {}; logDensity() {} }",
  "of itself": `import self from "./of itself.mjs";\nexport default self;`,
  "no default": "export const a = 1;",
  "another package": 'import "left-pad";',
  "a syntax error": "export default model((",
  JSON: "{}",
  NaN: layer("g.mul(x, NaN)"),
  infinity: layer("g.add(g.mul(x, 0), Infinity)"),
  "minus infinity": layer("g.add(g.mul(x, 0), -Infinity)"),
  "a string": layer("'0'"),
  "a number": layer("0"),
  undefined: layer("undefined"),
  "a vector": layer("g.stack([x, x])"),
  "a promise": layer("Promise.resolve(x)"),
  "a flat density": layer("g.mul(x, 0)"),
  "an improper density": layer("g.mul(x, x)"),
  steep: layer("g.mul(g.mul(x, x), -1e300)"),
  "no parameters": "export const parameters = {};\nexport const logDensity = () => 0;",
  "no size":
    "export const parameters = { x: real({ shape: [0] }) };\nexport const logDensity = () => 0;",
  "a random density": layer("g.mul(x, Math.random())"),
  "names twice": statements(`${x}\nparameter("x", normal(0, 1));`),
  "hostile names": statements(
    'parameter("../../x", normal(0, 1)); parameter("__proto__", normal(0, 1));',
  ),
  "an empty name": statements('parameter("", normal(0, 1));'),
  "a long name": statements('parameter("n".repeat(100000), normal(0, 1));'),
  "10,000 parameters": statements(
    'for (let i = 0; i < 10000; i++) parameter("x" + i, normal(0, 1));',
  ),
  "a negative scale": statements('parameter("x", normal(0, -1));'),
  "a scale of NaN": statements('parameter("x", normal(0, NaN));'),
  "observes nothing there": statements(`${x}\nobserve("y", normal(x, 1));`),
  "no statements": statements(""),
  "deep graph": statements(
    `${x}\nlet y = x; for (let i = 0; i < 20000; i++) y = g.sin(y);\nderive("y", y);`,
  ),
  "wide graph": statements(
    `${x}\nderive("y", g.sum(g.constant(new Array(300).fill(new Array(300).fill(1)))));`,
  ),
  "leaks a tensor": `let kept;\n${statements(`${x}\nif (kept) derive("k", kept); kept = x;`)}`,
};

const short = ["--draws", "20", "--warmup", "20", "--no-pictures", "--chains", "2"];

/** Unusual data files. */
const data: Readonly<Record<string, string>> = {
  "deep.json": "[".repeat(100_000),
  "list.json": "[1, 2]",
  "null.json": "null",
  "text.json": '{"y": "one"}',
  "nan.json": '{"y": [NaN]}',
  "ragged.json": '{"y": [[1], [2, 3]]}',
  "empty.json": '{"y": []}',
  "proto.json": '{"__proto__": {"y": [1]}}',
  "large.json": `{"y": [${"1e308,".repeat(20)}1e308]}`,
  "huge.json": '{"y": [1e999]}',
  "dates.csv": "y\n2020-01-01\n",
  "gap.csv": "y\n1\n\n3\n",
  "empty.csv": "",
  "names.csv": "y,y\n1,2\n",
};

/** A command that reads a pipe; `feed` writes into it. */
async function fromPipe(
  name: string,
  words: readonly string[],
  feed: (path: string) => void,
  how: How = {},
) {
  const pipe = at("pipe");
  rmSync(pipe, { force: true });
  spawnSync("mkfifo", [pipe]);
  const outcome = diffeo(words, { seconds: 20, ...how });
  feed(pipe);
  const found = await outcome;
  return note(area, name, found.signal === "SIGINT" ? undefined : faultOf(found));
}

export async function posteriors(): Promise<void> {
  for (const [name, text] of Object.entries(wrong)) {
    writeFileSync(at(`${name}.mjs`), head + text);
    await attack(
      area,
      `a model that is ${name}`,
      ["infer", `${name}.mjs`, "--out", "p", "--force", ...short],
      {
        seconds: 45,
        // The author of a model needs the stack of an error in it.
        stack: /throws|rejects|timer|proxy/.test(name),
        check: ({ code }) =>
          /^exits/.test(name) && code === 0 ? "wrong: exit code 0 without draws" : undefined,
      },
    );
  }
  writeFileSync(at("y.mjs"), head + statements(`${x}\nobserve("y", normal(x, 1));`));
  for (const [name, text] of Object.entries(data)) {
    writeFileSync(at(name), text);
    await attack(area, `data ${name}`, [
      "infer",
      "y.mjs",
      "--data",
      name,
      "--out",
      "p",
      "--force",
      ...short,
    ]);
  }
  // Ctrl-C at a model that loops, at import and in a statement.
  for (const [name, text] of [
    ["at import", `writeFileSync("started", ""); for (;;);`],
    ["in a statement", statements(`${x}\nwriteFileSync("started", ""); for (;;);`)],
  ]) {
    rmSync(at("started"), { force: true });
    writeFileSync(at("loop.mjs"), `import { writeFileSync } from "node:fs";\n${head}${text}`);
    const outcome = await diffeo(["infer", "loop.mjs", "--out", "loop", "--force", ...short], {
      seconds: 20,
      meanwhile: async (child) => {
        while (!existsSync(at("started"))) await pause(20);
        child.kill("SIGINT");
      },
    });
    note(area, `a loop ${name}, Ctrl-C`, outcome.late ? "wrong: no end" : undefined);
  }
  const words = ["infer", "y.mjs", "--data", "pipe", "--out", "p", "--force", ...short];
  await fromPipe("a pipe that is closed at once", words, (path) => createWriteStream(path).end());
  await fromPipe("a pipe in two halves", words, (path) => {
    const stream = createWriteStream(path);
    stream.write('{"y": [1, 2');
    setTimeout(() => stream.end(", 3]}"), 1500);
  });
  await fromPipe("a pipe that is cut", words, (path) => {
    const child = spawn("bash", ["-c", `printf '{"y": [1, 2' > ${path}`]);
    child.on("error", () => {});
  });
  await fromPipe("a pipe that nobody writes to, Ctrl-C", words, () => {}, {
    meanwhile: (child) => void setTimeout(() => child.kill("SIGINT"), 3000),
  }).catch(() => {});
  await fromPipe(
    "a pipe of 200 MB of zeros",
    words,
    (path) =>
      void spawn("bash", ["-c", `head -c 200000000 /dev/zero > ${path}`]).on("error", () => {}),
    { seconds: 60 },
  );
}
