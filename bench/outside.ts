/**
 * npm run bench -- outside: the cost of a step whose score is called between graphs, compared with the
 * same score inside the graph. The network is a residual network of two sizes: traced, as the ONNX
 * file that it is written to, and as a function on arrays.
 */
import { additiveLogistic } from "diffeo/bijector";
import { compile } from "diffeo/engine";
import { input, type Tensor, writeOnnx } from "diffeo/graph";
import { asConstants, networkOf } from "diffeo/model";
import { external, fromOnnx } from "diffeo/outside";
import { key } from "diffeo/random";
import { openSampler } from "diffeo/sampler";
import { type MarginalScore, reversePush, vp } from "diffeo/sde";

const out = (cells: readonly string[]): void =>
  void process.stdout.write(`| ${cells.join(" | ")} |\n`);
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

export async function run(): Promise<void> {
  out(["network", "batch", "inside, µs per step", "fromOnnx", "external", "fromOnnx / inside"]);
  out(["---", "---:", "---:", "---:", "---:", "---:"]);
  for (const width of [32, 256]) {
    const spec = { kind: "residual", channels: 3, width, blocks: 3 } as const;
    const network = networkOf(spec);
    const parameters = asConstants(network.init(key(1)));
    const inside: MarginalScore = (x, t) => network.apply(parameters, x, t);
    for (const count of [1, 64, 1024]) {
      const tensors = [input("x", [count, 3]), input("t", [count])] as const;
      const { bytes } = writeOnnx(
        [{ name: "score", tensor: inside(...tensors) }],
        "cpu",
        {},
        tensors,
      );
      const host = compile((x: Tensor, t: Tensor) => inside(x, t), [[count, 3], [count]], {
        threads: 1,
      });
      const scores = [
        inside,
        await fromOnnx(bytes, { predicts: "score" }),
        external(async (x, t) => (await host(x, t)).data),
      ];
      const samplers = await Promise.all(
        scores.map((score) =>
          openSampler(reversePush(vp(), additiveLogistic(), score), { shape: [3], threads: 1 }),
        ),
      );
      const [few, more] = count === 1024 && width === 256 ? [2, 22] : [5, 105];
      const times: number[][] = scores.map(() => []);
      for (let repeat = 0; repeat < 7; repeat++)
        for (const [i, draw] of samplers.entries()) {
          const took = async (steps: number): Promise<number> => {
            const began = performance.now();
            await draw({ count, steps, key: key(repeat) });
            return performance.now() - began;
          };
          await took(1);
          const short = await took(few);
          times[i].push((1000 * ((await took(more)) - short)) / (more - few));
        }
      const [a, b, c] = times.map(median);
      out([
        `residual, width ${width}`,
        String(count),
        a.toFixed(0),
        b.toFixed(0),
        c.toFixed(0),
        (b / a).toFixed(2),
      ]);
      for (const draw of samplers) await draw.dispose();
      await host.dispose();
    }
  }
}
