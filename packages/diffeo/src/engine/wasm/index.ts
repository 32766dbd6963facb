/**
 * Graphs as WebAssembly modules: the engine for small graphs, which needs no runtime.
 *
 *   trace → simplified, and lowered to the primitives below (`lowering.ts`)
 *         → plan: which values are stored, in which loops they are computed (`plan.ts`,
 *           `stages.ts`, `planner.ts`), and their addresses (`memory.ts`)
 *         → code of the loops (`kernel.ts`, `values.ts`), of operations on numbers and vectors
 *           (`operations.ts`, `lanes.ts`), of operations with loops (`blocks.ts`, `solve.ts`)
 *         → the module's bytes (`code.ts`, `module.ts`, `encode.ts`), without vectors where the
 *           host has none (`scalar.ts`) → a session (`session.ts`)
 *
 * An elementwise operation is part of the loop that needs it, and one that moves numbers is an
 * index (`affine.ts`): only sums, products, joins and blocks end a loop. Elementary functions are
 * written once for numbers and vectors (`exponential.ts`, `trigonometry.ts`, …) in operations that
 * every machine rounds alike, so that results have the same bits everywhere.
 */
export { predict } from "./cost.ts";
export { lowered, wasmSession } from "./session.ts";
