/**
 * The interface between the code of a sampler (nuts-code.ts, hmc-code.ts) and the module around it.
 */
import type { Code, Expr } from "../engine/wasm/code.ts";
import type { Module } from "../engine/wasm/module.ts";
import type { ChainLayout } from "./chain-layout.ts";
import { type ChainMethodName, methods } from "./method.ts";

/** What the code of a sampler can use. */
export interface ChainSite {
  readonly module: Module;
  readonly layout: ChainLayout;
  /** Addresses of the leaf that the last step reached. */
  readonly leaf: { readonly x: Expr; readonly slope: Expr; readonly value: () => Expr };
  /** The next uniform number of the transition. */
  readonly uniform: () => Expr;
  /** A leapfrog step from an end of the trajectory. */
  readonly step: (code: Code, from: Expr, size: Expr) => void;
  /** Ends the transition at a point. */
  readonly finish: (code: Code, ended: EndedCode) => void;
}

interface EndedCode {
  readonly x: Expr;
  readonly slope: Expr;
  readonly value: Expr;
  readonly energy: Expr;
  readonly acceptance: Expr;
  readonly depth: Expr;
  readonly diverged: Expr;
}

/** A log-density and its gradient as code, with the addresses of the point and of the results. */
export interface TargetCode {
  /** Calls log p and its gradient. */
  readonly run: (code: Code) => void;
  readonly x: number;
  readonly value: number;
  readonly slope: number;
}

/** The transitions of a sampler as code. */
export interface ChainCode {
  /** Runs after the momentum has been sampled. */
  readonly begin: (code: Code) => void;
  /** One leapfrog step, and the end of the transition after the last one. */
  readonly advance: (code: Code) => void;
}

/** The number of a method in the state of a chain. */
export const methodNumber = (name: ChainMethodName): number => Object.keys(methods).indexOf(name);
