/**
 * The module of a model's chains as a file: a WebAssembly module with a custom section that
 * describes the layout of its memory.
 *
 *   section "diffeo chains"   { size, form, rows, start, target } as JSON
 */
import * as v from "valibot";
import { customSection } from "../engine/wasm/encode.ts";
import { fail } from "../graph/index.ts";
import { layOutChain } from "./chain-layout.ts";
import type { ChainModule } from "./chain-module.ts";

const SECTION = "diffeo chains";

const natural = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const schema = v.strictObject({
  size: v.pipe(natural, v.minValue(1)),
  form: v.picklist(["diagonal", "low-rank", "dense"]),
  rows: v.pipe(natural, v.minValue(1)),
  /** The first address of the chain's state. */
  start: natural,
  target: v.strictObject({ x: natural, value: natural, slope: natural }),
});

/** A module of chains, and how many chains a job has. */
export interface ChainFile {
  readonly module: ChainModule;
  readonly rows: number;
}

/** Whether bytes start as a WebAssembly module does. */
export const isModule = (bytes: Uint8Array): boolean =>
  [0, 0x61, 0x73, 0x6d].every((byte, i) => bytes[i] === byte);

export function writeModuleFile({ module, rows }: ChainFile): Uint8Array {
  const { bytes, size, form, target, layout } = module;
  const content = JSON.stringify({ size, form, rows, start: layout.state.address, target });
  const section = customSection(SECTION, new TextEncoder().encode(content));
  const file = new Uint8Array(bytes.length + section.length);
  file.set(bytes);
  file.set(section, bytes.length);
  return file;
}

export async function readModuleFile(file: Uint8Array): Promise<ChainFile> {
  const bytes = Uint8Array.from(file);
  try {
    const compiled = await WebAssembly.compile(bytes);
    const [section] = WebAssembly.Module.customSections(compiled, SECTION);
    const { start, rows, ...own } = v.parse(schema, JSON.parse(new TextDecoder().decode(section)));
    const layout = layOutChain(start, own.size, own.form);
    return { module: { ...own, layout, bytes, inputs: {} }, rows };
  } catch {
    return fail("data", "the file is not a step of chains", "write it with serializeChainStep");
  }
}
