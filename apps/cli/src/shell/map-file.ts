/** A map from a module that the user wrote. */
import { type Bijector, bijector } from "diffeo/bijector";
import { DiffeoError, fail, type Shape } from "diffeo/graph";
import { importOwn } from "./own-module.ts";

export interface MapFile {
  readonly map: Bijector;
  /** The shape of one event of x. */
  readonly event: Shape;
  readonly from?: Bijector;
}

/**
 * The default export of a module: at least three functions, or a bijector built from diffeo's own.
 */
export async function mapFromFile(
  path: string,
  event: readonly number[] | undefined,
): Promise<MapFile> {
  const { exports } = await importOwn(path).catch((error: Error) => {
    const typescript = path.endsWith(".ts");
    throw new DiffeoError(
      "data",
      `cannot load ${path}: ${error.message}`,
      typescript
        ? "compile it to JavaScript, or run diffeo under a TypeScript loader such as tsx"
        : "correct the module",
      { cause: error },
    );
  });
  const map = exports.default as Partial<Bijector> | undefined;
  const missing = (["forward", "inverse", "logDet"] as const).filter(
    (name) => typeof map?.[name] !== "function",
  );
  if (!map || missing.length > 0)
    fail(
      "data",
      `the default export of ${path} lacks ${missing.join(", ")}`,
      "export default { name, forward, inverse, logDet }, written with the functions of " +
        "diffeo/graph",
    );
  const shape = event ?? (exports.event as Shape | undefined);
  if (!shape)
    fail(
      "usage",
      `the size of one event of ${path} is not known`,
      "set it, as in --event 3, or export const event = [3]",
    );
  return { map: bijector({ ...(map as Bijector), name: map.name ?? path }), event: shape };
}
