/**
 * Simplifies graphs in one bottom-up pass: constants are folded, algebraic identities applied,
 * equal expressions shared, and unreachable nodes removed. Rules of a single primitive are in its
 * file, rules of several primitives and of one runtime in `rewrite/`.
 */
import { reference } from "./evaluate.ts";
import { allocate, convert, isFloat, type NdArray, sizeOf, toFloat64 } from "./ndarray.ts";
import { identityOf, loweringOf } from "./rewrite/index.ts";
import {
  constant,
  constantValue,
  isInput,
  type Primitive,
  rebuild,
  type Target,
  type Tensor,
} from "./tensor.ts";
import { topological } from "./topological.ts";

/** Constants larger than this are not folded, which would only enlarge the file. */
const FOLD_LIMIT = 4096;

/**
 * Structural identity: the same operation on the same (already canonical) inputs has the same key.
 */
class Interner {
  /** Numbers that identify nodes, operations (whose names may be equal) and large arrays. */
  readonly #ids = new Map<Tensor | Primitive | NdArray["data"], number>();
  readonly #nodes = new Map<string, Tensor>();
  /** The first nodes of each structure; a later pass meets most of them again. */
  readonly #first = new Set<Tensor>();

  #id(one: Tensor | Primitive | NdArray["data"]): number {
    const known = this.#ids.get(one);
    if (known !== undefined) return known;
    this.#ids.set(one, this.#ids.size);
    return this.#ids.size - 1;
  }

  /**
   * Small constants are equal when their bytes are; large ones, such as weights, when they are the
   * same array.
   */
  #content(value: NdArray): string {
    return value.data.length <= FOLD_LIMIT ? bytesOf(value) : `#${this.#id(value.data)}`;
  }

  /**
   * The key of a node. Its shape and type follow from the operation, its inputs and its attributes.
   */
  #key(t: Tensor): string {
    const value = constantValue(t);
    if (value) return `${t.dtype}|${t.shape}|${this.#content(value)}`;
    let key = `${this.#id(t.op)}`;
    for (const i of t.inputs) key += `,${this.#id(i)}`;
    for (const _ in t.attributes) return `${key}|${JSON.stringify(t.attributes)}`;
    return key;
  }

  /** The first node seen with this structure. */
  canonical(t: Tensor): Tensor {
    if (isInput(t) || this.#first.has(t)) return t;
    const key = this.#key(t);
    const known = this.#nodes.get(key);
    if (known) return known;
    this.#nodes.set(key, t);
    this.#first.add(t);
    return t;
  }
}

/** The content of an array, as a key. */
export const bytesOf = ({ data }: NdArray): string =>
  latin1(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));

/** A key with one character per byte. `apply` is used because a spread takes ten times as long. */
function latin1(bytes: Uint8Array): string {
  let out = "";
  for (let i = 0; i < bytes.length; i += 8192)
    out += String.fromCharCode.apply(null, bytes.subarray(i, i + 8192) as unknown as number[]);
  return out;
}

/** Whether the reference, which computes in float64, represents these numbers exactly. */
const isExact = ({ dtype, data }: Pick<NdArray, "dtype" | "data">): boolean =>
  isFloat(dtype) || toFloat64(data).every((v) => Number.isSafeInteger(v));

function fold(t: Tensor): Tensor | undefined {
  const { inputs, shape, dtype } = t;
  if (inputs.length === 0 || t.op.outside) return undefined;
  // Empty results need no computation, and some runtimes fail on them.
  if (sizeOf(shape) === 0) return constant({ shape, dtype, data: allocate(dtype, 0) }, dtype);
  for (const i of inputs) {
    const value = constantValue(i);
    if (!value || !isExact(value)) return undefined;
  }
  if (sizeOf(shape) > FOLD_LIMIT) return undefined;
  const [data] = reference([t], new Map());
  return isExact({ dtype, data })
    ? constant({ shape, dtype, data: convert(data, dtype) }, dtype)
    : undefined;
}

type Rule = (t: Tensor) => Tensor | undefined;

/**
 * Rewrites every node by `rule` until it no longer applies, and shares equal results. `rebuilt` is
 * called for nodes with new inputs.
 */
function rewrite(
  outputs: readonly Tensor[],
  interner: Interner,
  rule: Rule,
  rebuilt: (node: Tensor, as: Tensor) => void = () => undefined,
): Tensor[] {
  const done = new Map<Tensor, Tensor>();
  const visit = (node: Tensor): Tensor => {
    const known = done.get(node);
    if (known) return known;
    let inputs: Tensor[] | undefined;
    for (let i = 0; i < node.inputs.length; i++) {
      const now = visit(node.inputs[i]);
      if (now === node.inputs[i]) continue;
      inputs ??= [...node.inputs];
      inputs[i] = now;
    }
    const current = interner.canonical(inputs ? rebuild(node, inputs) : node);
    let result: Tensor | undefined;
    if (current !== node) {
      rebuilt(node, current);
      result = done.get(current);
    }
    if (!result) {
      const next = rule(current);
      result = next && next !== current ? visit(next) : current;
      done.set(current, result);
      if (result !== current) done.set(result, result);
    }
    if (current !== node) done.set(node, result);
    return result;
  };
  // In topological order the recursion only descends into nodes that a rule has just made.
  for (const node of topological(outputs)) visit(node);
  return outputs.map((t) => done.get(t) as Tensor);
}

const smaller: Rule = (t) => fold(t) ?? t.op.simplify?.(t) ?? identityOf.get(t.op)?.(t);

/** An equal, smaller graph: constants folded, identities applied, equal expressions shared. */
export const simplify = (outputs: readonly Tensor[]): Tensor[] =>
  rewrite(outputs, new Interner(), smaller);

/** Replaces operations by forms that a target supports or runs faster. */
export function lower(outputs: readonly Tensor[], target: Target): Tensor[] {
  const interner = new Interner();
  const simple = rewrite(outputs, interner, smaller);
  const uses = new Map<Tensor, number>();
  const count = (t: Tensor): void => void uses.set(t, (uses.get(t) ?? 0) + 1);
  for (const node of topological(simple)) node.inputs.forEach(count);
  simple.forEach(count);
  const lowered = loweredOutputs(simple, interner, target, uses);
  return rewrite(lowered, interner, smaller);
}

/** Replaces operations by the results of `lowering` until it no longer applies. */
export function lowerBy(
  outputs: readonly Tensor[],
  lowering: (t: Tensor) => Tensor | undefined,
): Tensor[] {
  const interner = new Interner();
  const simple = rewrite(outputs, interner, smaller);
  return rewrite(rewrite(simple, interner, lowering), interner, smaller);
}

function loweredOutputs(
  outputs: readonly Tensor[],
  interner: Interner,
  target: Target,
  uses: Map<Tensor, number>,
): Tensor[] {
  const countOf = (t: Tensor): number => uses.get(t) ?? 1;
  const inherit = (from: Tensor, to: Tensor): void => {
    if (!uses.has(to)) uses.set(to, countOf(from));
  };
  return rewrite(
    outputs,
    interner,
    (t) => {
      const better = t.op.lower?.(t, target) ?? loweringOf.get(t.op)?.(t, target, countOf);
      if (better) inherit(t, better);
      return better;
    },
    inherit,
  );
}
