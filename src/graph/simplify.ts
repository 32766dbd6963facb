/**
 * An equal and smaller graph: constants folded, algebraic identities applied, equal expressions computed once,
 * everything unreachable gone. One bottom-up pass; each node's own rules live with its primitive.
 */
import { reference } from "./evaluate.ts";
import { convert, type NdArray, sizeOf } from "./ndarray.ts";
import { constant, constantValue, isInput, rebuild, type Target, type Tensor } from "./tensor.ts";
import { topological } from "./topological.ts";

/** Constants larger than this are left to the runtime: folding them would only fatten the file. */
const FOLD_LIMIT = 4096;

/** Structural identity: the same operation on the same (already canonical) inputs has the same key. */
class Interner {
  readonly #ids = new Map<Tensor, number>();
  readonly #nodes = new Map<string, Tensor>();
  readonly #arrays = new Map<NdArray["data"], number>();

  #id(t: Tensor): number {
    const known = this.#ids.get(t);
    if (known !== undefined) return known;
    this.#ids.set(t, this.#ids.size);
    return this.#ids.size - 1;
  }

  /** Small constants are equal when their bytes are; large ones, such as weights, when they are the same array. */
  #content(value: NdArray): string {
    if (value.data.length <= FOLD_LIMIT) return bytesOf(value);
    const known = this.#arrays.get(value.data) ?? this.#arrays.size;
    this.#arrays.set(value.data, known);
    return `#${known}`;
  }

  /** The first node seen with this structure. */
  canonical(t: Tensor): Tensor {
    if (isInput(t)) return t;
    const value = constantValue(t);
    const attributes = value ? this.#content(value) : JSON.stringify(t.attributes);
    const key = `${t.op.name}|${t.dtype}|${t.shape}|${t.inputs.map((i) => this.#id(i))}|${attributes}`;
    const known = this.#nodes.get(key);
    if (known) return known;
    this.#nodes.set(key, t);
    return t;
  }
}

const bytesOf = ({ data }: NdArray): string => latin1(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));

/** One character a byte: a key that is equal exactly when the bytes are. */
function latin1(bytes: Uint8Array): string {
  let out = "";
  for (let i = 0; i < bytes.length; i += 8192) out += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return out;
}

function fold(t: Tensor): Tensor | undefined {
  if (t.inputs.length === 0 || sizeOf(t.shape) > FOLD_LIMIT || !t.inputs.every((i) => constantValue(i)))
    return undefined;
  const [value] = reference([t], new Map());
  return constant({ shape: t.shape, dtype: t.dtype, data: convert(value, t.dtype) }, t.dtype);
}

/** Rewrites every node by `rule` until it has nothing more to say, sharing equal results. */
function rewrite(outputs: readonly Tensor[], rule: (t: Tensor) => Tensor | undefined): Map<Tensor, Tensor> {
  const interner = new Interner();
  const done = new Map<Tensor, Tensor>();
  const visit = (node: Tensor): Tensor => {
    const known = done.get(node);
    if (known) return known;
    const inputs = node.inputs.map(visit);
    const same = inputs.every((t, i) => t === node.inputs[i]);
    const current = interner.canonical(same ? node : rebuild(node, inputs));
    let result = done.get(current);
    if (!result) {
      const next = rule(current);
      result = next && next !== current ? visit(next) : current;
      done.set(current, result);
      done.set(result, result);
    }
    done.set(node, result);
    return result;
  };
  // In topological order the recursion above only ever descends into nodes a rule has just made.
  for (const node of topological(outputs)) visit(node);
  return done;
}

const apply = (outputs: readonly Tensor[], rule: (t: Tensor) => Tensor | undefined): Tensor[] => {
  const done = rewrite(outputs, rule);
  return outputs.map((t) => done.get(t) as Tensor);
};

export const simplify = (outputs: readonly Tensor[]): Tensor[] => apply(outputs, (t) => fold(t) ?? t.op.simplify?.(t));

/** Replaces operations by the forms a target runs well, or runs at all. */
export function lower(outputs: readonly Tensor[], target: Target): Tensor[] {
  const simple = simplify(outputs);
  const uses = new Map<Tensor, number>();
  const count = (t: Tensor): void => void uses.set(t, (uses.get(t) ?? 0) + 1);
  for (const node of topological(simple)) node.inputs.forEach(count);
  simple.forEach(count);
  return simplify(loweredOutputs(simple, target, uses));
}

function loweredOutputs(outputs: readonly Tensor[], target: Target, uses: Map<Tensor, number>): Tensor[] {
  const countOf = (t: Tensor): number => uses.get(t) ?? 1;
  return apply(outputs, (t) => {
    const better = t.op.lower?.(t, target, countOf);
    if (better && !uses.has(better)) uses.set(better, countOf(t));
    return better;
  });
}
