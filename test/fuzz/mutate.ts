/** Almost valid inputs: valid ones with a few edits of characters, bytes or JSON values. */
import fc from "fast-check";

const place = fc.nat(1_000_000);
const few = { maxLength: 6 };

/** Texts with pieces removed, doubled or inserted. */
export function texts(good: readonly string[], tokens: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.oneof(fc.constantFrom(...tokens), fc.string({ maxLength: 8, unit: "binary" }));
  const edit = fc.record({ at: place, cut: fc.nat(12), put: piece, again: fc.boolean() });
  const edited = fc.tuple(fc.constantFrom(...good), fc.array(edit, few)).map(([text, edits]) =>
    edits.reduce((now, { at, cut, put, again }) => {
      const i = at % (now.length + 1);
      return (
        now.slice(0, i) +
        (again ? now.slice(i, i + cut) + put : put) +
        now.slice(i + (again ? 0 : cut))
      );
    }, text),
  );
  const made = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
  return fc.oneof({ weight: 4, arbitrary: edited }, { weight: 1, arbitrary: made });
}

/** Bytes with some changed, and the end truncated or extended. */
export function bytes(good: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  const change = fc.tuple(place, fc.oneof(fc.constantFrom(0, 1, 127, 128, 255), fc.nat(255)));
  const end = fc.oneof(fc.constant(0), fc.integer({ min: -100, max: 20 }));
  const edited = fc
    .tuple(fc.constantFrom(...good), fc.array(change, few), end)
    .map(([sample, changes, more]) => {
      const out = new Uint8Array(Math.max(0, sample.length + more));
      out.set(sample.subarray(0, out.length));
      for (const [at, value] of changes) if (out.length > 0) out[at % out.length] = value;
      return out;
    });
  return fc.oneof(
    { weight: 9, arbitrary: edited },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
  );
}

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    0.5,
    1e7,
    1e15,
    1e308,
    -0,
    "",
    "toString",
    "__proto__",
    "../../evil",
    "1",
  ),
  fc.constantFrom<unknown>([], {}, [[]], [null], { length: 3 }, { toString: 1 }, "x".repeat(5000)),
  fc.jsonValue({ maxDepth: 2 }),
);

type Tree = Record<string, unknown> | unknown[];
const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null;

/** Every place of a tree: its parent, and its name in it. */
function placesOf(tree: Tree, found: [Tree, string][] = []): [Tree, string][] {
  for (const [name, value] of Object.entries(tree)) {
    found.push([tree, name]);
    if (isTree(value)) placesOf(value, found);
  }
  return found;
}

/** JSON values with some parts replaced, removed or renamed. */
export function values(good: readonly unknown[]): fc.Arbitrary<unknown> {
  const edit = fc.record({
    at: place,
    how: fc.constantFrom("put", "drop", "name", "list"),
    value: odd,
  });
  const edited = fc.tuple(fc.constantFrom(...good), fc.array(edit, few)).map(([sample, edits]) => {
    const tree: unknown = structuredClone(sample);
    for (const { at, how, value: shared } of edits) {
      const value = structuredClone(shared);
      const places = isTree(tree) ? placesOf(tree) : [];
      if (places.length === 0) return value;
      const [inside, name] = places[at % places.length];
      const own = inside as Record<string, unknown>;
      if (how === "drop" && !Array.isArray(inside)) delete own[name];
      else if (how === "list") own[name] = [own[name], value];
      else if (how === "name" && typeof value === "string" && value !== "__proto__")
        own[value] = structuredClone(own[name]);
      else own[name] = value;
    }
    return tree;
  });
  return fc.oneof({ weight: 9, arbitrary: edited }, { weight: 1, arbitrary: odd });
}
