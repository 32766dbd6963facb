/** Simulates a Node without onnxruntime-node. */
const missing = `export const resolve = (name, context, next) => {
  if (name === "onnxruntime-node") throw new Error("not installed");
  return next(name, context);
};`;
const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
const hook = `import { register } from "node:module"; register(${JSON.stringify(dataUrl(missing))});`;

/**
 * For what computes for a moment: V8 compiles WebAssembly a second time, for speed, only where it
 * runs many times as long as by default. Otherwise that is up to half of such a program's processor
 * time. The numbers are the same.
 */
export const briefly = "--wasm-tiering-budget=130000000";

/** Flags that take it away. */
export const noNative = [briefly, "--import", dataUrl(hook)] as const;

/** Flags that run a program on the sources. */
export const withoutNative = (program: string): string[] => [
  ...["--conditions=diffeo-source", "--import", "tsx", ...noNative],
  ...["--input-type=module", "--eval", program],
];
