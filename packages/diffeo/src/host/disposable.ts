/// <reference lib="esnext.disposable" preserve="true" />

/**
 * What `await using` closes at the end of a block. Programs that compile against it get the types
 * of disposal with it, whatever their own `lib` is.
 */
export type Closable = AsyncDisposable;

/**
 * `dispose` and `Symbol.asyncDispose` by one function: what has them can be closed by hand or at
 * the end of a block that holds it with `await using`.
 *
 * @param dispose closes it; called twice it does nothing the second time
 */
export const disposable = (
  dispose: () => Promise<void>,
): Closable & { readonly dispose: () => Promise<void> } => ({
  dispose,
  [Symbol.asyncDispose]: dispose,
});
