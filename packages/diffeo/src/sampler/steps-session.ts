/**
 * Runs steps in a module (steps-module.ts). A call runs as many steps as fit into some
 * milliseconds, so that progress, signals and other work of the thread are handled between calls.
 * Between calls all state is outside the module, so calls of one open sampler may overlap.
 */

import type { CompileOptions } from "../engine/index.ts";
import { ownOutputs } from "../engine/opener.ts";
import { callsOutside } from "../engine/split.ts";
import { refuseFault } from "../engine/wasm/session.ts";
import type { NdArray, Shape, Trace, TypedArray } from "../graph/index.ts";
import { allocate, sizeOf } from "../graph/ndarray.ts";
import type { Keys } from "../random/index.ts";
import { grouped } from "../random/normals-code.ts";
import {
  MOST_STEPS,
  type StepInputPlaces,
  type StepResult,
  type StepsModule,
  stepsModule,
} from "./steps-module.ts";

/** The graph of a step, and the shapes of its noise. */
export interface StepGraph {
  readonly traced: Trace<StepResult>;
  readonly places: StepInputPlaces;
  readonly draws: readonly Shape[];
}

/** The arguments of a call of a module. */
export interface StepsCall {
  /** The number of the first step, and the times of all remaining steps. */
  readonly first: number;
  readonly steps: readonly { readonly t: number; readonly dt: number; readonly since: number }[];
  readonly point: NdArray;
  readonly memory: NdArray | undefined;
  readonly keys: Keys;
  /** The inputs that are the same for all steps, in order. */
  readonly fixed: readonly TypedArray[];
}

/** The result of a call. */
export interface StepsTaken {
  readonly taken: number;
  /** The point after the last step. */
  readonly point: NdArray;
  readonly memory: NdArray | undefined;
  readonly exits: number;
  readonly clamps: number;
  /** If a step stopped the loop: its result, and the number of samples outside the domain. */
  readonly stopped?: { readonly landed: NdArray; readonly lost: number };
}

/** The approximate milliseconds of a call. */
const TURN = 25;

/** Microseconds per normal number that the module saves compared with JavaScript. */
const DRAWN = 0.03;

interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly steps: (first: number, n: number) => number;
}

/** An instantiated module. */
export class StepsSession {
  readonly #module: StepsModule;
  readonly #graph: StepGraph;
  readonly #exports: Exports;
  /** The number of steps of a call, adapted to its duration. */
  #steps = 1;

  private constructor(module: StepsModule, graph: StepGraph, exports: Exports) {
    this.#module = module;
    this.#graph = graph;
    this.#exports = exports;
  }

  /** Undefined if the compiler does not run the graph on this device. */
  static async open(
    graph: StepGraph,
    { device = "cpu", worker, checkFinite, threads }: CompileOptions,
  ): Promise<StepsSession | undefined> {
    const { traced, places, draws } = graph;
    if (checkFinite || (worker && device === "wasm") || callsOutside(traced)) return undefined;
    const count = traced.inputs[places.point].shape[0];
    const numbers = count * draws.reduce((n, shape) => n + sizeOf(shape), 0);
    const outputs = await ownOutputs(traced, device, { threads }, numbers * DRAWN);
    if (!outputs) return undefined;
    const module = stepsModule(traced, outputs, places, draws);
    if (!module) return undefined;
    const { instance } = await WebAssembly.instantiate(module.bytes);
    return new StepsSession(module, graph, instance.exports as unknown as Exports);
  }

  #view(like: TypedArray, address: number, length: number): TypedArray {
    const { buffer } = this.#exports.memory;
    return new (like.constructor as Float64ArrayConstructor)(buffer, address, length);
  }

  #write(place: number | undefined, data: TypedArray): void {
    const address = this.#module.inputs[place ?? -1];
    if (address === undefined || data.length === 0) return;
    (this.#view(data, address, data.length) as Float64Array).set(data as Float64Array);
  }

  #read({ shape, dtype }: NdArray, address: number): NdArray {
    const data = this.#view(allocate(dtype, 0), address, sizeOf(shape)).slice();
    return { shape, dtype, data } as NdArray;
  }

  /** Runs the first steps of a list, as many as fit into a call. */
  run({ first, steps, point, memory, keys, fixed }: StepsCall): StepsTaken {
    const { layout, results, inputs } = this.#module;
    const { places } = this.#graph;
    const n = Math.min(steps.length, this.#steps, MOST_STEPS);
    this.#write(places.point, point.data);
    if (memory) this.#write(places.value, memory.data);
    fixed.forEach((data, i) => {
      this.#write(places.fixed + i, data);
    });
    const words = grouped(keys);
    (this.#view(words as never, layout.keys, words.length) as never as Uint32Array).set(words);
    for (const name of ["t", "dt", "since"] as const) {
      const list = this.#view(allocate(point.dtype, 0), layout.times[name], n) as Float64Array;
      list.set(steps.slice(0, n).map((step) => step[name]));
    }
    const counts = new Float64Array(this.#exports.memory.buffer, layout.counts, 2);
    counts.fill(0);
    const began = performance.now();
    const taken = this.#exports.steps(first, n);
    if (taken === n) this.#adjust(performance.now() - began, n);
    refuseFault(this.#module.faults, this.#exports.memory);
    const [exits, clamps] = counts;
    const address = inputs[places.point];
    const end = {
      taken,
      point: taken === 0 ? point : this.#read(point, address ?? results.next),
      memory: memory && results.memory !== undefined ? this.#remembered(memory) : memory,
      exits,
      clamps,
    };
    if (taken === n) return end;
    const landed = this.#read(point, results.landed ?? results.next);
    const lost = Number(this.#view(allocate(point.dtype, 0), results.lost, 1)[0]);
    return { ...end, stopped: { landed, lost } };
  }

  #remembered(memory: NdArray): NdArray {
    const address = this.#module.inputs[this.#graph.places.value ?? -1];
    return address === undefined ? memory : this.#read(memory, address);
  }

  #adjust(spent: number, n: number): void {
    const fitting = Math.floor((n * TURN) / Math.max(spent, TURN / 8));
    this.#steps = Math.max(1, Math.min(MOST_STEPS, fitting));
  }
}
