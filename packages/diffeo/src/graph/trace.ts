/**
 * From a function on tensors to a graph: named inputs of given shapes, and the outputs the function
 * makes of them.
 */
import { fail } from "./error.ts";
import { type DType, type FloatType, type Shape, sameShape, showShape } from "./ndarray.ts";
import { input, type Tensor } from "./tensor.ts";
import { leavesOf, mapTree, tensorsOf } from "./tree.ts";

/** Shape and type of one argument. A bare list of sizes has the float type of the trace. */
export type Spec = Shape | { readonly shape: Shape; readonly dtype?: DType };

const isSizes = (value: unknown): boolean =>
  Array.isArray(value) && value.every((d) => d === null || typeof d === "number");

/** What may stand in a spec: an array is one too. */
const parts: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["shape", isSizes],
  ["dtype", (value) => value === undefined || typeof value === "string"],
  ["data", (value) => ArrayBuffer.isView(value)],
]);

/**
 * Whether a value is a spec and not a tree of them, in which a tensor may be called `shape`. `[]`
 * is a scalar's.
 */
export const isSpec = (value: unknown): value is Spec =>
  isSizes(value) ||
  (typeof value === "object" &&
    value !== null &&
    "shape" in value &&
    Object.entries(value).every(([key, part]) => parts.get(key)?.(part) ?? false));

/** A function of tensors as a graph: its symbolic inputs and its outputs. */
export interface Trace<Y> {
  /** One a leaf of the arguments, in order, named by argument and path: `x0`, `x1.layers.0.w`. */
  readonly inputs: readonly Tensor[];
  /** What the function returned. */
  readonly result: Y;
  /** Its leaves, named `y` or by their path. */
  readonly outputs: readonly { readonly name: string; readonly tensor: Tensor }[];
}

/** Runs `f` once on symbolic inputs. */
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
  if (outputs.length === 0) fail("type", "the function returned no tensor at all", remedy);
  // Outputs and inputs share one name space in ONNX.
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

/** Whether a concrete shape fits one in which some sizes are open (`null`). */
export const fitsShape = (shape: Shape, open: readonly (number | null)[]): boolean =>
  sameShape(
    shape,
    open.map((d, i) => d ?? shape[i]),
  ) && shape.length === open.length;

/** A shape for error messages, where an open size is written `any`. */
export const showOpenShape = (open: readonly (number | null)[]): string =>
  showShape(open.map((d) => d ?? Number.NaN)).replaceAll("NaN", "any");
