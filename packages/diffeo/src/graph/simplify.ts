/**
 * An equal and smaller graph: constants folded, algebraic identities applied, equal expressions
 * computed once, everything unreachable gone. One bottom-up pass; each node's own rules live with
 * its primitive, those between families and those of one runtime in `rewrite/`.
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

/** Constants larger than this are left to the runtime: folding them would only fatten the file. */
const FOLD_LIMIT = 4096;

/**
 * Structural identity: the same operation on the same (already canonical) inputs has the same key.
 */
class Interner {
  /**
   * Numbers for what is equal only to itself: nodes, operations (whose names need not differ) and
   * large arrays.
   */
  readonly #ids = new Map<Tensor | Primitive | NdArray["data"], number>();
  readonly #nodes = new Map<string, Tensor>();
  /** Nodes that are the first of their structure: a later pass meets most of them again. */
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
   * What tells a node from others: its shape and type follow from the operation, its inputs and its
   * attributes.
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

/**
 * One character a byte: a key that is equal exactly when the bytes are. `apply`, because a spread
 * takes ten times as long.
 */
function latin1(bytes: Uint8Array): string {
  let out = "";
  for (let i = 0; i < bytes.length; i += 8192)
    out += String.fromCharCode.apply(null, bytes.subarray(i, i + 8192) as unknown as number[]);
  return out;
}

/** Whether float64, in which the reference computes, knows these numbers from their neighbours. */
const isExact = ({ dtype, data }: Pick<NdArray, "dtype" | "data">): boolean =>
  isFloat(dtype) || toFloat64(data).every((v) => Number.isSafeInteger(v));

function fold(t: Tensor): Tensor | undefined {
  const { inputs, shape, dtype } = t;
  if (inputs.length === 0 || t.op.outside) return undefined;
  // An empty result needs no computing, and not every runtime survives it.
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
 * Rewrites every node by `rule` until it has nothing more to say, sharing equal results; `rebuilt`
 * hears of new inputs.
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
  // In topological order the recursion above only ever descends into nodes a rule has just made.
  for (const node of topological(outputs)) visit(node);
  return outputs.map((t) => done.get(t) as Tensor);
}

const smaller: Rule = (t) => fold(t) ?? t.op.simplify?.(t) ?? identityOf.get(t.op)?.(t);

/**
 * The same outputs by a smaller graph: constants folded, identities applied, equal expressions
 * shared.
 */
export const simplify = (outputs: readonly Tensor[]): Tensor[] =>
  rewrite(outputs, new Interner(), smaller);

/** Replaces operations by the forms a target runs well, or runs at all. */
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

/** Replaces operations by what `lowering` says instead of them, until it says nothing more. */
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
