/**
 * Runs a graph's ONNX file directly without the engine, for lowered forms that no device of this
 * machine uses.
 */
import * as ort from "onnxruntime-node";
import { type NdArray, type Target, type Tensor, writeOnnx } from "../../src/graph/index.ts";

export async function runOnCpu(
  outputs: readonly { readonly name: string; readonly tensor: Tensor }[],
  inputs: ReadonlyMap<Tensor, NdArray>,
  target: Target,
): Promise<NdArray[]> {
  const session = await ort.InferenceSession.create(writeOnnx(outputs, target).bytes, {
    executionProviders: ["cpu"],
    intraOpNumThreads: 1,
    logSeverityLevel: 4,
  });
  const feeds: Record<string, ort.Tensor> = {};
  for (const [t, { dtype, data, shape }] of inputs) {
    const name = t.attributes.name as string;
    if (session.inputNames.includes(name))
      feeds[name] = new ort.Tensor(dtype as "float32", data as Float32Array, shape);
  }
  const results = await session.run(feeds);
  await session.release();
  return outputs.map(({ name }) => {
    const { dims, type, data } = results[name];
    return { shape: dims, dtype: type as NdArray["dtype"], data: data as NdArray["data"] };
  });
}
