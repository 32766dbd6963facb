/**
 * Runs the table of cases on a device and on the reference. Independent of the platform, so that a
 * page can run it too.
 */
import type * as Diffeo from "../../src/index.ts";
import { type Case, cases } from "./cases.ts";

type D = Pick<typeof Diffeo, "compile" | "convert" | "toFloat64" | "sizeOf"> &
  Parameters<typeof cases>[0];
type Type = Diffeo.FloatType;

/** A function of arrays of its own. */
export interface Work {
  readonly f: Case["f"];
  readonly args: readonly Diffeo.NdArray[];
}

/**
 * Evaluates functions once, in one graph: to open a session takes longer than to run any of them.
 */
export type Evaluate = (work: readonly Work[], type: Type) => Promise<readonly Diffeo.NdArray[]>;

/** Deterministic inputs: the golden ratio's multiples, spread evenly and never repeated. */
const values = (n: number, offset: number, [low, high]: readonly [number, number]): number[] =>
  Array.from(
    { length: n },
    (_, i) => low + (high - low) * (((i + 1) * 0.6180339887498949 + offset * 0.377) % 1),
  );

/** What a graph of all functions gives. */
export const allOf =
  (work: readonly Work[]) =>
  (x: readonly (readonly Diffeo.Tensor[])[]): Diffeo.Tensor[] =>
    work.map(({ f }, i) => f(...x[i]));

export const onDevice =
  (d: D, options: Diffeo.CompileOptions): Evaluate =>
  async (work, type) => {
    const given = work.map(({ args }) => args);
    const compiled = d.compile(allOf(work), [given], { ...options, type });
    return compiled(given).finally(() => compiled.dispose());
  };

export interface Finding {
  readonly name: string;
  readonly type: Type;
  /**
   * max |y − r| / max(1, |r|) over the entries y of the device and r of the reference; NaN where a
   * shape is wrong.
   */
  readonly error: number;
}

export async function survey(
  d: D,
  evaluate: Evaluate,
  types: readonly Type[],
  only: (name: string) => boolean = () => true,
): Promise<Finding[]> {
  const reference = onDevice(d, { device: "reference" });
  const findings: Finding[] = [];
  const all = cases(d).filter((c) => only(c.name));
  // Some at a time: the runtime takes longer over one graph of all than over a few.
  const groups = Array.from({ length: Math.ceil(all.length / 32) }, (_, k) =>
    all.slice(32 * k, 32 * (k + 1)),
  );
  for (const [type, some] of types.flatMap((t) => groups.map((group) => [t, group] as const))) {
    const work = some.map(({ f, shapes, range }) => ({
      f,
      args: shapes.map((shape, k): Diffeo.NdArray => {
        const data = d.convert(values(d.sizeOf(shape), k, range), type);
        return { shape, dtype: type, data };
      }),
    }));
    const exact = work.map(({ f, args }) => ({
      f,
      args: args.map(
        (a): Diffeo.NdArray => ({ ...a, dtype: "float64", data: d.toFloat64(a.data) }),
      ),
    }));
    const [found, wanted] = [await evaluate(work, type), await reference(exact, "float64")];
    some.forEach(({ name }, i) => {
      const [y, r] = [found[i], wanted[i]];
      const same = `${y.shape}` === `${r.shape}` && y.data.length === r.data.length;
      const errors = [...d.toFloat64(r.data)].map(
        (v, k) => Math.abs(Number(y.data[k]) - v) / Math.max(1, Math.abs(v)),
      );
      findings.push({ name, type, error: same ? Math.max(...errors) : Number.NaN });
    });
  }
  return findings;
}

/** A digest of some draws of every kind: equal exactly when every bit of them is. */
export function digest(random: typeof Diffeo.random): number {
  const [a, b, c, d, e] = random.split(random.key("digest"), 5);
  const arrays = [
    random.normal(random.sampleKeys(a, 100), 40, { dtype: "float64" }),
    random.uniform(b, [1000], { low: -3, high: 7, dtype: "float64" }),
    random.rademacher(c, 1000),
    random.permutation(d, 1000),
    random.integers(e, 1000, 0, 1_000_003),
  ];
  let hash = 0x811c9dc5;
  for (const { data } of arrays)
    for (const byte of new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
      hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
