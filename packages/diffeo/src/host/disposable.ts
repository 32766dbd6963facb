/// <reference lib="esnext.disposable" preserve="true" />

/**
 * A resource that `await using` closes at the end of a block. It includes the types of disposal for
 * programs with any `lib` setting.
 */
export type Closable = AsyncDisposable;

/**
 * `dispose` and `Symbol.asyncDispose` from one function, so that a resource can be closed
 * explicitly or with `await using`.
 *
 * @param dispose closes the resource; later calls do nothing
 */
export const disposable = (
  dispose: () => Promise<void>,
): Closable & { readonly dispose: () => Promise<void> } => ({
  dispose,
  [Symbol.asyncDispose]: dispose,
});
