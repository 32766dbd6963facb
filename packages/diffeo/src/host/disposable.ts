/**
 * `dispose` and `Symbol.asyncDispose` by one function: what has them can be closed by hand or at the
 * end of a block that holds it with `await using`.
 *
 * @param dispose closes it; called twice it does nothing the second time
 */
export const disposable = (
  dispose: () => Promise<void>,
): AsyncDisposable & { readonly dispose: () => Promise<void> } => ({
  dispose,
  [Symbol.asyncDispose]: dispose,
});
