/**
 * The transformer compared with one in plain loops, its gradient with differences, and the
 * properties of its structure.
 */
import { describe, expect, it } from "vitest";
import { compile } from "../../src/engine/index.ts";
import { type NdArray, type Tensor, toFloat64 } from "../../src/graph/index.ts";
import { networkOf, parameterCount } from "../../src/model/index.ts";
import {
  type Transformer,
  type TransformerOptions,
  transformer,
  transformerInit,
} from "../../src/model/transformer.ts";
import { key, normal, uniform } from "../../src/random/index.ts";
import { flatten, unflatten } from "../../src/train/index.ts";
import { expectGradient } from "./plain.ts";

type Row = readonly number[];

const board: TransformerOptions = {
  channels: 3,
  outputs: 5,
  grid: [2, 3],
  width: 16,
  layers: 2,
  heads: 2,
  expansion: 2,
  positions: "axes",
};
const cases: readonly (readonly [string, TransformerOptions])[] = [
  ["a grid with positions by axes", board],
  [
    "a sequence with gelu",
    { ...board, grid: [6], positions: "sites", activation: "gelu", rotary: 1 },
  ],
  [
    "a cube with silu",
    { ...board, grid: [2, 1, 3], activation: "silu", relative: false, rotary: 0 },
  ],
];

const rowsOf = (a: NdArray, width: number): Row[] => {
  const data = [...toFloat64(a.data)];
  return Array.from({ length: data.length / width }, (_, i) =>
    data.slice(i * width, (i + 1) * width),
  );
};
const product = (x: Row, w: readonly Row[], b: Row = []): Row =>
  w[0].map((_, j) => x.reduce((s, v, i) => s + v * w[i][j], b[j] ?? 0));
const silu = (v: number): number => v / (1 + Math.exp(-v));
const inner = {
  relu2: (v: number) => Math.max(v, 0) ** 2,
  gelu: (v: number) => (v / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (v + 0.044715 * v ** 3))),
  silu,
} as const;
const normed = (x: Row, scale: Row, shift: Row): Row => {
  const mu = x.reduce((s, v) => s + v, 0) / x.length;
  const variance = x.reduce((s, v) => s + (v - mu) ** 2, 0) / x.length;
  return x.map((v, i) => ((v - mu) / Math.sqrt(variance + 1e-5)) * scale[i] + shift[i]);
};

/** Pairs (j, j + p) of every head turned, p of them shared out among the axes. */
function turned(
  row: Row,
  place: Row,
  { grid, width, heads, rotary = 0.5 }: TransformerOptions,
): Row {
  const d = width / heads;
  const each = Math.floor((rotary * d) / 2 / grid.length);
  const p = each * grid.length;
  return row.map((x, c) => {
    const j = c % d;
    if (j >= 2 * p) return x;
    const [axis, i] = [Math.floor((j % p) / each), (j % p) % each];
    const angle = place[axis] * Math.PI * (2 * grid[axis]) ** (each > 1 ? -i / (each - 1) : 0);
    return j < p
      ? x * Math.cos(angle) - row[c + p] * Math.sin(angle)
      : row[c - p] * Math.sin(angle) + x * Math.cos(angle);
  });
}

/** The network of one example, number by number. */
function plain(
  p: Transformer<NdArray>,
  x: readonly Row[],
  t: number,
  options: TransformerOptions,
): Row[] {
  const { grid, width, heads, activation = "relu2" } = options;
  const matrix = (a: NdArray): Row[] => rowsOf(a, a.shape.at(-1) as number);
  const affine = (a: { w: NdArray; b: NdArray }, row: Row): Row =>
    product(row, matrix(a.w), matrix(a.b)[0]);
  const features = Array.from({ length: 256 }, (_, i) => {
    const angle = t * 1000 * 10_000 ** (-(i % 128) / 128);
    return i < 128 ? Math.sin(angle) : Math.cos(angle);
  });
  const embedding = affine(p.time2, affine(p.time1, features).map(silu)).map(silu);
  const coordinates = (site: number): number[] =>
    grid.map((d, axis) => Math.floor(site / grid.slice(axis + 1).reduce((n, m) => n * m, 1)) % d);
  let h = x.map((row, site) => {
    const at = options.positions === "axes" ? coordinates(site) : [site];
    return affine(p.input, row).map((v, c) =>
      p.positions.reduce((s, a, i) => s + matrix(a)[at[i]][c], v),
    );
  });
  const d = width / heads;
  for (const block of p.blocks) {
    const [a1, b1, g1, a2, b2, g2] = block.offsets.map((o, role) =>
      affine(p.modulation[role], embedding).map((v, c) => v + Number(o.data[c])),
    );
    const seen = h.map((row) => normed(row, a1, b1));
    const [q0, k0, v] = [block.query, block.key, block.value].map((w) =>
      seen.map((row) => product(row, matrix(w))),
    );
    const [q, k] = [q0, k0].map((all) =>
      all.map((row, site) => turned(row, coordinates(site), options)),
    );
    const bias = (i: number, j: number, head: number): number => {
      const [a, b] = [coordinates(i), coordinates(j)];
      const index = grid.reduce(
        (n, size, axis) => n * (2 * size - 1) + a[axis] - b[axis] + size - 1,
        0,
      );
      return block.relative.length > 0 ? matrix(block.relative[0])[index][head] : 0;
    };
    const mixed = q.map((row, site) => {
      const out = new Array<number>(width).fill(0);
      for (let head = 0; head < heads; head++) {
        const part = (r: Row): Row => r.slice(head * d, (head + 1) * d);
        const e = k.map((other, j) =>
          Math.exp(
            part(row).reduce((s, w, i) => s + w * part(other)[i], 0) / Math.sqrt(d) +
              bias(site, j, head),
          ),
        );
        const total = e.reduce((s, w) => s + w, 0);
        v.forEach((value, j) => {
          part(value).forEach((w, i) => {
            out[head * d + i] += (e[j] / total) * w;
          });
        });
      }
      return out;
    });
    h = h.map((row, i) => product(mixed[i], matrix(block.out)).map((w, c) => row[c] + w * g1[c]));
    h = h.map((row) => {
      const up = product(normed(row, a2, b2), matrix(block.up)).map(inner[activation]);
      return product(up, matrix(block.down)).map((w, c) => row[c] + w * g2[c]);
    });
  }
  const [scale, shift] = p.final.map((role) => affine(role, embedding));
  return h.map((row) => affine(p.head, normed(row, scale, shift)));
}

describe.each(cases)("a transformer of %s", (_, options) => {
  const fresh = transformerInit(key(1), options);
  const size = flatten(fresh).length;
  const shape = [2, ...options.grid, options.channels];
  const x = normal(key(2), shape, { dtype: "float64" });
  const t = uniform(key(3), [2], { dtype: "float64" });
  /** Every weight drawn, so that nothing hides behind the zeros a fresh network has. */
  const theta: NdArray = normal(key(4), [size], { dtype: "float64" });
  const small = { ...theta, data: (theta.data as Float64Array).map((v) => v / 4) };
  const at = (flat: Tensor, image: Tensor, time: Tensor): Tensor =>
    transformer(unflatten(flat, fresh) as unknown as Transformer<Tensor>, image, time, options);
  const specs = [[null], [null, ...options.grid, options.channels], [null]] as const;

  it("starts at zero, with the stated shapes", async () => {
    const f = compile(at, specs, { threads: 1 });
    const { shape: out, data } = await f(
      flatten(fresh),
      Float32Array.from(x.data),
      Float32Array.from(t.data),
    );
    await f.dispose();
    expect(out).toEqual([2, ...options.grid, 5]);
    expect(Math.max(...(data as Float32Array).map(Math.abs))).toBe(0);
    expect(parameterCount(networkOf({ kind: "transformer", ...options }).shapes())).toBe(size);
  });

  it("equals plain loops", async () => {
    let from = 0;
    const parameters = JSON.parse(JSON.stringify(fresh), (name, value) => {
      if (name === "data" || typeof value !== "object" || !("shape" in value)) return value;
      const count = (value.shape as number[]).reduce((n, m) => n * m, 1);
      from += count;
      return { ...value, data: (small.data as Float64Array).subarray(from - count, from) };
    }) as Transformer<NdArray>;
    const f = compile(at, specs, { type: "float64", threads: 1 });
    const { data } = await f(small, x, t);
    await f.dispose();
    const images = rowsOf(x, options.channels);
    const sites = images.length / 2;
    const expected = [0, 1].flatMap((i) =>
      plain(
        parameters,
        images.slice(i * sites, (i + 1) * sites),
        Number(t.data[i]),
        options,
      ).flat(),
    );
    const scale = Math.max(...expected.map(Math.abs));
    const apart = expected.map((v, i) => Math.abs(v - Number(data[i])) / scale);
    expect(Math.max(...apart)).toBeLessThan(1e-11);
  });

  it("has the gradient of differences along random directions in all weights", async () => {
    await expectGradient(at, specs, [small, x, t], 3);
  });
});

it("has 8.6 M parameters at the size of a chess board", () => {
  const { shapes } = networkOf({
    kind: "transformer",
    channels: 12,
    outputs: 13,
    grid: [8, 8],
    width: 256,
    layers: 10,
    heads: 8,
  });
  expect(parameterCount(shapes())).toBe(8_578_653);
});

it("refuses heads that do not divide the width", () => {
  expect(() => transformerInit(key(1), { ...board, heads: 3 })).toThrow(
    "`width` is 16, which 3 heads do not divide",
  );
});
