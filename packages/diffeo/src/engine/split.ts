/**
 * Graphs with calls of functions outside: a trace is split at each call, and runs as
 *
 *   piece₀ → calls₁ → piece₁ → calls₂ → … → pieceₖ
 *
 * Calls of level l need only the results of calls of lower levels. A value is computed in the first
 * piece that needs it and passed to later ones, so nothing is computed twice. Values that calls do
 * not need are computed in the last piece. A piece that only expands and reshapes, such as times of
 * samples, runs on the host without a session.
 */
import {
  input,
  type NdArray,
  type OutsideCall,
  type Place,
  simplify,
  type Tensor,
  type Trace,
  topological,
} from "../graph/index.ts";
import { constantValue, isInput, rebuild } from "../graph/tensor.ts";
import { toHost } from "./device-array.ts";
import { referenceSession } from "./reference.ts";
import type { Session } from "./session.ts";

export const callsOutside = ({ outputs }: Trace<unknown>): boolean =>
  topological(outputs.map((o) => o.tensor)).some((node) => node.op.outside);

interface Piece {
  /** Its inputs: inputs of the trace, results of calls, and values of earlier pieces. */
  readonly given: Set<Tensor>;
  /** The nodes it computes, in order. */
  readonly nodes: Tensor[];
  /** The nodes that other pieces or calls need. */
  readonly wanted: Set<Tensor>;
}

interface Plan {
  readonly pieces: readonly Piece[];
  /** Calls between piece l and piece l + 1. */
  readonly calls: readonly (readonly Tensor[])[];
}

/** Splits the graph of `outputs`. */
function planOf(outputs: readonly Tensor[]): Plan {
  const order = topological(outputs);
  const level = new Map<Tensor, number>();
  for (const node of order)
    level.set(
      node,
      Math.max(0, ...node.inputs.map((t) => level.get(t) as number)) + (node.op.outside ? 1 : 0),
    );
  const last = Math.max(...outputs.map((t) => level.get(t) as number));
  const calls = Array.from({ length: last }, (_, l) =>
    order.filter((n) => n.op.outside && level.get(n) === l + 1),
  );
  const pieces: Piece[] = [];
  const madeIn = new Map<Tensor, Piece>();
  for (let l = 0; l <= last; l++) {
    const piece: Piece = { given: new Set(), nodes: [], wanted: new Set() };
    const targets = l < last ? calls[l].flatMap((call) => call.inputs) : outputs;
    const needed = new Set<Tensor>();
    const stack = [...targets];
    for (let node = stack.pop(); node; node = stack.pop()) {
      if (needed.has(node)) continue;
      needed.add(node);
      const earlier = madeIn.get(node);
      if (earlier) earlier.wanted.add(node);
      if (earlier || isInput(node) || node.op.outside) piece.given.add(node);
      else stack.push(...node.inputs);
    }
    for (const node of order)
      if (needed.has(node) && !piece.given.has(node)) {
        piece.nodes.push(node);
        if (!constantValue(node)) madeIn.set(node, piece);
      }
    for (const target of targets) if (!piece.given.has(target)) piece.wanted.add(target);
    pieces.push(piece);
  }
  return { pieces, calls };
}

const light = new Set(["expand", "reshape", "constant"]);

interface OpenPiece {
  readonly given: readonly Tensor[];
  readonly wanted: readonly Tensor[];
  readonly session: Session | undefined;
}

const placeholder = (t: Tensor, i: number): Tensor => input(`·given${i}`, t.shape, t.dtype);

/** The trace of a piece; `wanted` have the names of the trace's outputs if they are outputs. */
function traceOf(
  { given, nodes, wanted }: Piece,
  names: ReadonlyMap<Tensor, string>,
): Trace<unknown> {
  const map = new Map<Tensor, Tensor>([...given].map((t, i) => [t, placeholder(t, i)]));
  const inputs = [...map.values()];
  for (const node of nodes)
    map.set(
      node,
      rebuild(
        node,
        node.inputs.map((t) => map.get(t) as Tensor),
      ),
    );
  const outputs = [...wanted].map((t, i) => ({
    name: names.get(t) ?? `·wanted${i}`,
    tensor: map.get(t) as Tensor,
  }));
  return { inputs, outputs, result: undefined };
}

/** Opens all pieces and the functions between them. */
export async function splitSession(
  traced: Trace<unknown>,
  open: (traced: Trace<unknown>) => Promise<Session>,
  place: Place,
): Promise<Session> {
  const outputs = simplify(traced.outputs.map((o) => o.tensor));
  const { pieces, calls } = planOf(outputs);
  const names = new Map(outputs.map((t, i) => [t, traced.outputs[i].name]));
  const opened: { dispose(): Promise<void> }[] = [];
  const dispose = async (): Promise<void> => {
    for (const one of opened.splice(0)) await one.dispose();
  };
  const keep = <T extends { dispose(): Promise<void> }>(one: T): T => {
    opened.push(one);
    return one;
  };
  try {
    const parts: OpenPiece[] = [];
    for (const piece of pieces) {
      const own = traceOf(piece, names);
      const onHost = piece.nodes.every((node) => light.has(node.op.name));
      const session =
        piece.wanted.size === 0
          ? undefined
          : keep(onHost ? referenceSession(own) : await open(own));
      parts.push({ given: [...piece.given], wanted: [...piece.wanted], session });
    }
    const between = new Map<Tensor, OutsideCall>();
    for (const call of calls.flat()) between.set(call, keep(await call.op.outside!.open(place)));
    return {
      run: (feeds) => runSplit(traced, outputs, parts, calls, between, names, feeds),
      dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function runSplit(
  traced: Trace<unknown>,
  outputs: readonly Tensor[],
  parts: readonly OpenPiece[],
  calls: Plan["calls"],
  between: ReadonlyMap<Tensor, OutsideCall>,
  names: ReadonlyMap<Tensor, string>,
  feeds: Readonly<Record<string, NdArray>>,
): Promise<Record<string, NdArray>> {
  const values = new Map<Tensor, NdArray>();
  const of = (t: Tensor): NdArray => values.get(t) as NdArray;
  for (const t of traced.inputs) values.set(t, feeds[t.attributes.name as string]);
  for (const [l, { given, wanted, session }] of parts.entries()) {
    if (session) {
      const results = await session.run(
        Object.fromEntries(given.map((t, i) => [`·given${i}`, of(t)])),
      );
      wanted.forEach((t, i) => {
        values.set(t, results[names.get(t) ?? `·wanted${i}`]);
      });
    }
    for (const call of calls[l] ?? []) {
      const inputs = await Promise.all(call.inputs.map((t) => toHost(of(t))));
      values.set(call, await (between.get(call) as OutsideCall).run(inputs));
    }
  }
  return Object.fromEntries(traced.outputs.map(({ name }, i) => [name, of(outputs[i])]));
}
