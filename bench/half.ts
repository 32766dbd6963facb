/**
 * npm run bench -- half [--device webgpu] [--batch N]: whether float16 would pay off in the layers
 * that take most of a U-Net's time.
 *
 * A chain of 24 layers of width 128, convolutions (3×3 on 8×8 images) or matrix products with a
 * tanh after each, in three ways: float32; float16 inside each layer, with casts around it; and
 * float16 from end to end. The three are timed in turns.
 */
import { parseArgs } from "node:util";
import { compile } from "diffeo/engine";
import { constant, primitive, type Shape, sum, type Tensor } from "diffeo/graph";
import { key, normal } from "diffeo/random";
import { inTurns, milliseconds } from "./timing.ts";

const LAYERS = 24;
const WIDTH = 128;
const FLOAT = 1;
const FLOAT16 = 10;

type Layer = "Conv" | "MatMul";
const precisions = ["float32", "cast", "float16"] as const;
type Precision = (typeof precisions)[number];

/**
 * The graph language has no float16, but a primitive that writes its own nodes may use it between
 * them.
 */
const chain = primitive<{ layer: Layer; precision: Precision }>({
  name: "chain",
  infer: ([x]) => x,
  emit: ({ attributes: { layer, precision } }, [x, w], onnx) => {
    const to = (type: number, name: string): string => onnx.node("Cast", [name], { to: type });
    const pads: Record<string, number[]> = layer === "Conv" ? { pads: [1, 1, 1, 1] } : {};
    const weight = precision === "float32" ? w : to(FLOAT16, w);
    let y = precision === "float16" ? to(FLOAT16, x) : x;
    for (let i = 0; i < LAYERS; i++) {
      const product = onnx.node(layer, [precision === "cast" ? to(FLOAT16, y) : y, weight], pads);
      y = onnx.node("Tanh", [precision === "cast" ? to(FLOAT, product) : product]);
    }
    return precision === "float16" ? to(FLOAT, y) : y;
  },
  evaluate: () => {
    throw new Error("these layers can only be timed on a device");
  },
});

const weights: Readonly<Record<Layer, Shape>> = {
  Conv: [WIDTH, WIDTH, 3, 3],
  MatMul: [WIDTH, WIDTH],
};

async function compareLayers(layer: Layer, batch: number, device: string): Promise<void> {
  const shape = layer === "Conv" ? [batch, WIDTH, 8, 8] : [batch * 64, WIDTH];
  const [, , ...kernel] = weights[layer];
  const scale = Math.sqrt(WIDTH * kernel.reduce((a, b) => a * b, 1));
  const drawn = normal(key("half"), weights[layer]);
  const w = constant({
    ...drawn,
    data: Float32Array.from(drawn.data as Float32Array, (v) => v / scale),
  });
  const x = normal(key("x"), shape);
  const programs = precisions.map((precision) =>
    compile((t: Tensor) => sum(chain([t, w], { layer, precision })), [shape], { device }),
  );
  const [full, ...others] = await inTurns(
    programs.map((program) => () => milliseconds(() => program(x))),
    4,
  );
  const line = others.map(
    (ms, i) => `${precisions[i + 1]} ${ms.toFixed(2)} (${(ms / full).toFixed(2)}×)`,
  );
  process.stdout.write(
    `${LAYERS} × ${layer}, batch ${batch}, ms: float32 ${full.toFixed(2)}, ${line.join(", ")}\n`,
  );
  for (const program of programs) await program.dispose();
}

export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { device: { type: "string", default: "cpu" }, batch: { type: "string" } },
  });
  const batch = Number(values.batch ?? (values.device === "cpu" ? 16 : 1024));
  for (const layer of ["Conv", "MatMul"] as const) await compareLayers(layer, batch, values.device);
}
