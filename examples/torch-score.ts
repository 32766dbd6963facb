/**
 * Samples a network that was trained in PyTorch, in the domain of the data.
 *
 * torch-score.py trains a noise prediction on the log-ratios of compositions and writes it as ONNX.
 * This program uses it as a score. The file runs in Node and in a page, and through the additive
 * logistic map the samples are compositions.
 */
import { readFile } from "node:fs/promises";
import { additiveLogistic } from "diffeo/bijector";
import { gaussian, mixture, sampleFrom } from "diffeo/distribution";
import { evaluate } from "diffeo/engine";
import type { Tensor } from "diffeo/graph";
import { fromOnnx } from "diffeo/outside";
import { fold, key } from "diffeo/random";
import { sample } from "diffeo/sampler";
import { reversePush, vp } from "diffeo/sde";
import { energyDistance } from "diffeo/two-sample";

const bytes = await readFile(new URL("torch-score.onnx", import.meta.url));
const [sde, phi, seed] = [vp(), additiveLogistic(), key(7)];

const score = await fromOnnx(bytes, { predicts: "noise", sde });
const { samples } = await sample(reversePush(sde, phi, score), {
  shape: [3],
  count: 2000,
  key: seed,
});

const out = (text: string): void => void process.stdout.write(`${text}\n`);
out(score.describe());

// The distribution of the training data is known, so the samples can be compared with it.
const part = (mean: number[], spread: number) => ({
  distribution: gaussian({ mean, covariance: spread ** 2 }),
});
const data = mixture([part([2, 0, -1], 0.5), part([-1, 1.5, 1], 0.7), part([-1, -2, 0.5], 0.4)]);
const logRatios = await sampleFrom(data, fold(seed, "exact"), 2000);
const exact = await evaluate((x: Tensor) => phi.forward(x), logRatios);
const start = await evaluate(
  (x: Tensor) => phi.forward(x),
  await sampleFrom(gaussian({ mean: [0, 0, 0], covariance: 1 }), seed, 2000),
);

const distance = (from: typeof exact): string =>
  energyDistance(from, exact, { key: fold(seed, "distance"), permutations: 0 }).value.toFixed(4);
out(
  `energy distance to the data: ${distance(samples)}, before the diffusion ran ${distance(start)}`,
);
const outside = samples.data.reduce((n, v) => n + (v > 0 && v < 1 ? 0 : 1), 0);
out(`coordinates outside of the simplex: ${outside}`);
