/**
 * Chains that run without the model's code. The transitions of a model with its data are one
 * WebAssembly module. As a file it can be sent to any machine that runs WebAssembly:
 *
 *   where the model is   serializeChainStep(model, { data, chains }) → bytes
 *   anywhere             drawChainsFromStep(bytes, { key, first, count, … }) → states at their last draw
 *   where the model is   collectPosterior(model, states, { … }) → posterior
 *
 * If the compiler lacks an operation of the model, the file is the ONNX graph of its leapfrog step.
 * The draws are those of `samplePosterior` with the same options, bit for bit: on every machine
 * from a module, on one kind of machine from an ONNX file.
 */
import { openModel } from "../engine/index.ts";
import { callsOutside } from "../engine/split.ts";
import { fail, type OnnxModel, type Port, trace, writeOnnx } from "../graph/index.ts";
import { type OnnxFile, readOnnxFile } from "../outside/index.ts";
import type { Key } from "../random/index.ts";
import { chainModule } from "./chain-module.ts";
import { type ChainOptions, settingsOf } from "./chain-settings.ts";
import type { ChainState } from "./chain-state.ts";
import { type ChainStep, rowWidths, stepOf } from "./chain-step.ts";
import { chainsBy, type OpenChainsOptions, usualBlock } from "./chains.ts";
import { ChainSession } from "./compiled-chains.ts";
import { type Data, dataArrays } from "./data.ts";
import { formOf, inverseShape, type MetricForm } from "./metric.ts";
import { boundModel, type PosteriorModel } from "./model.ts";
import { isModule, readModuleFile, writeModuleFile } from "./module-file.ts";
import { startingPoints } from "./starting-points.ts";

/** The chains that a file of `serializeChainStep` is written for. */
export interface ChainStepOptions extends Pick<OpenChainsOptions, "block" | "metric"> {
  readonly data?: Data;
  readonly chains: number;
}

/** How many chains run together and are sampled by one call of `drawChainsFromStep`. */
export const chainBlock = ({ block, chains }: ChainStepOptions): number =>
  block ?? usualBlock(chains);

/**
 * Writes the transitions of a model's chains to a file: a WebAssembly module, or the ONNX graph of
 * a step.
 */
export function serializeChainStep(model: PosteriorModel, options: ChainStepOptions): Uint8Array {
  const { data = {}, metric = "diagonal" } = options;
  const { target } = boundModel(model, data, dataArrays(data, model.data), false, {});
  const [rows, form] = [chainBlock(options), formOf(metric)];
  const { step, shapes } = stepOf(target, rows, form);
  const traced = trace(step, shapes, "float64");
  const module = chainModule(target, {}, form);
  if (module) return writeModuleFile({ module, rows });
  if (callsOutside(traced))
    fail(
      "usage",
      "the model calls an async function, which cannot be part of a graph",
      "sample its chains in this process",
    );
  return writeOnnx(traced.outputs, "cpu", {}, traced.inputs).bytes;
}

/** Options of `drawChainsFromStep`. */
export interface StepDrawOptions extends ChainOptions {
  readonly key: Key;
  /** The number of the first chain, a multiple of the block. */
  readonly first: number;
  /** How many chains are sampled, at most a block. */
  readonly count: number;
  readonly threads?: number;
  readonly onDraw?: (chain: number, done: number, of: number) => void;
  readonly signal?: AbortSignal;
}

/** Checks that a file is a step: rows and M⁻¹ in, rows out, all float64 with sizes that match. */
function shapeOf(file: OnnxFile): {
  readonly rows: number;
  readonly n: number;
  readonly form: MetricForm;
} {
  const no = (): never =>
    fail(
      "data",
      "the file does not contain the transitions of chains",
      "write it with serializeChainStep",
    );
  const ports = [...file.inputs, ...file.outputs];
  if (file.inputs.length !== 2 || file.outputs.length !== 1) no();
  const [taken, metric, given] = ports.map(({ sizes }) => sizes ?? no());
  const [rows, width] = taken as number[];
  const n = (width - 1) / 3;
  const wide = rowWidths(n)[1];
  const form = (["diagonal", "dense", "low-rank"] as const).find(
    (each) => String([rows, ...inverseShape(each, n)]) === String(metric),
  );
  if (!form || !Number.isInteger(n) || String(given) !== String([rows, wide])) return no();
  if (!ports.every(({ type }) => type === "float64") || !(rows >= 1 && n >= 1)) no();
  return { rows, n, form };
}

async function openStep(onnx: Uint8Array, file: OnnxFile, threads: number): Promise<ChainStep> {
  const port = ({ name, sizes }: OnnxFile["inputs"][number]): Port => ({
    name,
    shape: sizes as readonly number[],
    dtype: "float64",
  });
  const [inputs, outputs] = [file.inputs.map(port), file.outputs.map(port)];
  const model: OnnxModel = { bytes: onnx, types: new Set(["float64"]), inputs, outputs };
  const session = await openModel(model, { threads });
  const step: (...args: Parameters<ChainStep>) => ReturnType<ChainStep> = async (
    _,
    rows,
    inverse,
  ) => {
    const found = await session.run({ [inputs[0].name]: rows, [inputs[1].name]: inverse });
    return found[outputs[0].name];
  };
  return Object.assign(step, { dispose: () => session.dispose() });
}

/** An opened file. */
interface OpenFile {
  readonly rows: number;
  readonly n: number;
  readonly form: MetricForm;
  /** The step of an ONNX file, or the session of a module. */
  readonly step?: ChainStep;
  readonly session?: ChainSession;
}

async function openFile(bytes: Uint8Array, threads: number): Promise<OpenFile> {
  if (isModule(bytes)) {
    const { module, rows } = await readModuleFile(bytes);
    const session = await ChainSession.open(module, {});
    return { rows, n: module.size, form: module.form, session };
  }
  const file = readOnnxFile(bytes);
  return { ...shapeOf(file), step: await openStep(bytes, file, threads) };
}

/**
 * Samples chains `first`, …, `first + count − 1` of a file, from their start to their last draw.
 */
export async function drawChainsFromStep(
  bytes: Uint8Array,
  options: StepDrawOptions,
): Promise<readonly ChainState[]> {
  const { key, first, count, threads = 1, onDraw, signal, ...rest } = options;
  const settings = settingsOf(rest);
  const { rows, n, form, step, session } = await openFile(bytes, threads);
  const chains = chainsBy(step, n, rows, settings, async () => session);
  try {
    if (form !== formOf(settings.metric))
      fail(
        "usage",
        `the file was not written for \`metric\` "${settings.metric}"`,
        "write it with the same metric",
      );
    if (count > rows)
      fail(
        "usage",
        `${count} chains requested, the file has blocks of ${rows}`,
        "sample one block per call",
      );
    const start = await startingPoints(chains, {
      n,
      first,
      count,
      key,
      where: async (x) =>
        `free coordinates ${x.subarray(0, 4).join(", ")}${x.length > 4 ? ", …" : ""}`,
    });
    let states: readonly ChainState[] = [];
    const save = async (now: readonly ChainState[]): Promise<void> => {
      states = now;
    };
    const store = { load: async () => undefined, save };
    await chains.draw(start, {
      key,
      first,
      store,
      onDraw,
      signal,
    });
    return states;
  } finally {
    await chains.dispose();
  }
}
