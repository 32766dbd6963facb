/** Runs the table of cases on a device beside the reference. Knows no platform, so that a page can run it too. */
import type * as Diffeo from "../../src/index.ts";
import { type Case, cases } from "./cases.ts";

type D = Pick<typeof Diffeo, "compile" | "convert" | "toFloat64" | "sizeOf"> & Parameters<typeof cases>[0];
type Type = Diffeo.FloatType;

/** Evaluates a function of arrays once. */
export type Evaluate = (f: Case["f"], args: readonly Diffeo.NdArray[], type: Type) => Promise<Diffeo.NdArray>;

/** Deterministic inputs: the golden ratio's multiples, spread evenly and never repeated. */
const values = (n: number, offset: number, [low, high]: readonly [number, number]): number[] =>
  Array.from({ length: n }, (_, i) => low + (high - low) * (((i + 1) * 0.6180339887498949 + offset * 0.377) % 1));

export const onDevice =
  (d: D, options: Diffeo.CompileOptions): Evaluate =>
  async (f, args, type) => {
    const compiled = d.compile<Diffeo.Tensor[], Diffeo.Tensor>(
      f,
      args.map((a) => a.shape),
      { ...options, type },
    );
    return compiled(...args).finally(() => compiled.dispose());
  };

export interface Finding {
  readonly name: string;
  readonly type: Type;
  /** max |y − r| / max(1, |r|) over the entries y of the device and r of the reference; NaN where a shape is wrong. */
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
  for (const type of types)
    for (const { name, shapes, range, f } of cases(d).filter((c) => only(c.name))) {
      const given = shapes.map((shape, k): Diffeo.NdArray => {
        const data = d.convert(values(d.sizeOf(shape), k, range), type);
        return { shape, dtype: type, data };
      });
      const exact = given.map((a): Diffeo.NdArray => ({ ...a, dtype: "float64", data: d.toFloat64(a.data) }));
      const [y, r] = [await evaluate(f, given, type), await reference(f, exact, "float64")];
      const same = `${y.shape}` === `${r.shape}` && y.data.length === r.data.length;
      const errors = [...d.toFloat64(r.data)].map((v, i) => Math.abs(Number(y.data[i]) - v) / Math.max(1, Math.abs(v)));
      findings.push({ name, type, error: same ? Math.max(...errors) : Number.NaN });
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
