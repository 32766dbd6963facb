/** One map of the plane and the score behind it, trained by one arm, and measured in w. */
import { identity } from "diffeo/bijector";
import { compile } from "diffeo/engine";
import { DiffeoError, type NdArray, type Tensor } from "diffeo/graph";
import { mean } from "diffeo/host";
import { fold, type Key, key } from "diffeo/random";
import { logDensity, sample } from "diffeo/sampler";
import { type GaussianSde, type MarginalScore, reverse, reversePush, vp } from "diffeo/sde";
import { energyDistance } from "diffeo/two-sample";
import { type KnownName, knownDistributions } from "../problem/plane.ts";
import { rounded } from "../study/records.ts";
import type { TaskContext } from "../study/study.ts";
import { type ArmName, FEW_STEPS, levelAt, mapOf, TRAINING_POINTS, trainArm } from "./arms.ts";

export interface LearnedMapTask {
  readonly distribution: KnownName;
  readonly arm: ArmName;
  readonly seed: number;
}

export interface LearnedMapResult {
  /** Mean of log p − log p_model at held-out points, in nats; null where the flow is too stiff. */
  readonly nats: number | null;
  /** Energy distance of samples to exact ones, with few steps of the sampler and with many. */
  readonly few: number;
  readonly many: number;
  /** The same of two exact sets of samples. */
  readonly chance: number;
}

export const MANY_STEPS = 100;
const SAMPLES = 4000;
const HELD_OUT = 512;
const KNOTS = 2000;

const engine = { device: "wasm", type: "float64" } as const;

/** Times from horizon/1000 on whose levels are spaced evenly, and the range of levels. */
async function evenTimes(sde: GaussianSde) {
  const first = sde.horizon / 1000;
  const fine = Float64Array.from(
    { length: 20 * KNOTS },
    (_, i) => first * (sde.horizon / first) ** (i / (20 * KNOTS - 1)),
  );
  const at = compile((t: Tensor) => levelAt(sde, t), [[fine.length]], engine);
  const { data } = await at({ shape: [fine.length], dtype: "float64", data: fine });
  await at.dispose();
  const levels = data as Float64Array;
  const [high, low] = [levels[0], levels[levels.length - 1]];
  const times = new Float64Array(KNOTS);
  for (let k = 0, i = 0; k < KNOTS; k++) {
    const level = high + ((low - high) * k) / (KNOTS - 1);
    while (i < fine.length - 2 && levels[i + 1] > level) i++;
    const share = (levels[i] - level) / (levels[i] - levels[i + 1]);
    times[k] = fine[i] + share * (fine[i + 1] - fine[i]);
  }
  return { times, range: high - low };
}

export async function learnedMap(
  { distribution, arm, seed }: LearnedMapTask,
  context: TaskContext,
): Promise<LearnedMapResult> {
  const sde = vp();
  const known = knownDistributions[distribution]();
  const root = fold(key(seed), "learned-map");
  const points = known.sample(fold(root, "points"), TRAINING_POINTS);
  const fewSteps = async (score: MarginalScore, own: Key, count: number): Promise<NdArray> => {
    const options = { shape: [2], count, steps: FEW_STEPS, key: own, ...engine };
    const { shape, data } = (await sample(reverse(sde, score), options)).samples;
    return { shape, dtype: "float32", data: Float32Array.from(data as Float64Array) };
  };
  const setting = { sde, ...(await evenTimes(sde)), points, root, context, fewSteps };
  const { score, parameters } = await trainArm(arm, setting);
  const phi = parameters ? mapOf(parameters) : identity();
  const process = reversePush(sde, phi, score);
  const draw = async (steps: number): Promise<NdArray> => {
    const own = fold(fold(root, "draw"), steps);
    const options = { shape: [2], count: SAMPLES, steps, key: own, signal: context.signal };
    return (await sample(process, { ...options, ...engine })).samples;
  };
  const exact = (name: string) => known.sample(fold(root, name), SAMPLES, "float64");
  const [first, second] = [exact("exact"), exact("again")];
  const distance = (a: NdArray, b: NdArray): number =>
    energyDistance(a, b, { key: fold(root, "directions"), permutations: 0 }).value;
  const held = known.sample(fold(root, "held out"), HELD_OUT, "float64");
  const truth = compile((w: Tensor) => known.logDensity(w), [[HELD_OUT, 2]], engine);
  const expected = mean((await truth(held)).data as Float64Array);
  await truth.dispose();
  const options = { ...engine, tolerance: 1e-4, mostSteps: 300 };
  const found = await logDensity(process, held, options).catch((error: unknown) => {
    if (error instanceof DiffeoError && error.kind === "numerical") return undefined;
    throw error;
  });
  return rounded({
    nats: found ? expected - mean(found.logDensity.data as Float64Array) : null,
    few: distance(await draw(FEW_STEPS), first),
    many: distance(await draw(MANY_STEPS), first),
    chance: distance(second, first),
  });
}
