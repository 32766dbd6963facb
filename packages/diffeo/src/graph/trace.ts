/** Traces a function of tensors to a graph with named inputs of given shapes, and its outputs. */
import { fail } from "./error.ts";
import { type DType, type FloatType, type Shape, sameShape, showShape } from "./ndarray.ts";
import { input, type Tensor } from "./tensor.ts";
import { leavesOf, mapTree, tensorsOf } from "./tree.ts";

/** The shape and type of an argument. A list of sizes has the float type of the trace. */
export type Spec = Shape | { readonly shape: Shape; readonly dtype?: DType };

const isSizes = (value: unknown): boolean =>
  Array.isArray(value) && value.every((d) => d === null || typeof d === "number");

/** The members of a spec; an array is one, too. */
const parts: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["shape", isSizes],
  ["dtype", (value) => value === undefined || typeof value === "string"],
  ["data", (value) => ArrayBuffer.isView(value)],
]);

/**
 * Whether a value is a spec and not a tree of specs, in which a tensor may have the name `shape`.
 * `[]` is the spec of a scalar.
 */
export const isSpec = (value: unknown): value is Spec =>
  isSizes(value) ||
  (typeof value === "object" &&
    value !== null &&
    "shape" in value &&
    Object.entries(value).every(([key, part]) => parts.get(key)?.(part) ?? false));

/** A traced function: its symbolic inputs and its outputs. */
export interface Trace<Y> {
  /** One per leaf of the arguments, in order, named by argument and path: `x0`, `x1.layers.0.w`. */
  readonly inputs: readonly Tensor[];
  /** The result of the function. */
  readonly result: Y;
  /** The leaves of the result, named `y` or by their path. */
  readonly outputs: readonly { readonly name: string; readonly tensor: Tensor }[];
}

/** Traces a function: runs `f` once on symbolic inputs. */
export function trace<Y>(
  f: (...args: never[]) => Y,
  specs: readonly unknown[],
  type: FloatType,
  names: readonly string[] = specs.map((_, i) => `x${i}`),
): Trace<Y> {
  const args = specs.map((spec, i) =>
    mapTree<Spec, Tensor>(
      spec,
      (leaf, path) => {
        const { shape, dtype = type } = "shape" in leaf ? leaf : { shape: leaf };
        return input(path === "" ? names[i] : `${names[i]}.${path}`, shape, dtype);
      },
      isSpec,
    ),
  );
  const result = f(...(args as never[]));
  const remedy = "return a tensor, or a list or object of tensors";
  const outputs = tensorsOf(
    result,
    "the function returned something that is not a tensor:",
    remedy,
  );
  if (outputs.length === 0) fail("type", "the function returned no tensors", remedy);
  // Outputs and inputs share a name space in ONNX.
  const inputs = leavesOf(args);
  const taken = new Set(inputs.map((t) => t.attributes.name as string));
  const free = (name: string): string => (taken.has(name) ? free(`out.${name}`) : name);
  return {
    inputs,
    result,
    outputs: outputs.map(({ path, tensor }) => {
      const own = free(path || "y");
      taken.add(own);
      return { name: own, tensor };
    }),
  };
}

/** Whether a shape matches one with open sizes (`null`). */
export const fitsShape = (shape: Shape, open: readonly (number | null)[]): boolean =>
  sameShape(
    shape,
    open.map((d, i) => d ?? shape[i]),
  ) && shape.length === open.length;

/** A shape for error messages, where an open size is written `any`. */
export const showOpenShape = (open: readonly (number | null)[]): string =>
  showShape(open.map((d) => d ?? Number.NaN)).replaceAll("NaN", "any");
