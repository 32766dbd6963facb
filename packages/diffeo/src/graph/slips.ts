/**
 * Errors for properties that a tensor does not have. JavaScript gives `undefined` for `a[0]`,
 * `a[group]` or `x.length`, and the error occurs much later or not at all: a loop up to `x.length`
 * does nothing.
 *
 * The properties are on the prototype, so the tensor's own properties have no overhead.
 */

/** What to write instead of a property; undefined if it is not a mistake. */
function advice(name: string): string | undefined {
  if (/^-?\d+$/.test(name)) return `write at(a, ${name})`;
  if (name.startsWith("[tensor of shape"))
    return "write take(a, index) for the entries of a at the indices of a tensor, counted from 0";
  if (name === "length") return "write a.shape[0]";
  if (["map", "forEach", "reduce", "filter"].includes(name))
    return "its numbers are not known yet: write functions of the whole tensor, such as mul(a, 2)";
  const operation = operations[name];
  return operation && `write ${operation}`;
}

const operations: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["add", "sub", "mul", "div", "pow", "matmul", "matvec"].map((name) => [name, `${name}(a, b)`]),
  ),
  ...Object.fromEntries(
    ["exp", "log", "sqrt", "square", "neg", "sum", "mean"].map((name) => [name, `${name}(a)`]),
  ),
  plus: "add(a, b)",
  minus: "sub(a, b)",
  times: "mul(a, b)",
};

/** Throws errors for such mistakes on objects with the given prototype. */
export function catchSlips(prototype: object, raise: (problem: string, remedy: string) => void) {
  const behind = new Proxy(Object.prototype, {
    get: (target, name, receiver) => {
      const remedy = typeof name === "string" ? advice(name) : undefined;
      if (remedy !== undefined) raise(problemOf(name as string), remedy);
      return Reflect.get(target, name, receiver);
    },
  });
  Object.setPrototypeOf(prototype, behind);
}

const problemOf = (name: string): string =>
  /^[-[\d]/.test(name)
    ? `a tensor is indexed, a[${name.startsWith("[") ? "a tensor" : name}]`
    : `a tensor has no \`${name}\``;
