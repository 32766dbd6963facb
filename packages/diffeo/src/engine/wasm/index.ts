/**
 * Graphs as WebAssembly modules: the engine for small graphs, which needs no runtime.
 *
 *   trace → simplified, and lowered to the primitives below (`lowering.ts`)
 *         → plan: which values are stored, which loops compute them (`plan.ts`), where they lie (`memory.ts`)
 *         → code of the loops (`kernel.ts`), of operations on numbers and vectors of them (`operations.ts`, `lanes.ts`),
 *           of operations with loops of their own (`blocks.ts`, `solve.ts`)
 *         → the module's bytes (`code.ts`, `module.ts`, `encode.ts`), without vectors where the host
 *           has none (`scalar.ts`) → a session (`session.ts`)
 *
 * An operation on single numbers is part of the loop that needs it, and one that moves numbers is an
 * index (`affine.ts`): only sums, products, joins and blocks end a loop. Elementary functions are
 * written once for a number and for a vector (`exponential.ts`, `trigonometry.ts`, …) in operations
 * that every machine rounds alike, so that results have the same bits everywhere.
 */
export { predict } from "./cost.ts";
export { lowered, wasmSession } from "./session.ts";
