/**
 * A deeper network that is the same function. Layers are put between those of a network; the last
 * matrix of a new layer is 0, so that it adds nothing until it is trained.
 */
import { freshModel, type Model, type ModelSpec } from "diffeo/categorical";
import { fail, isNdArray, mapTree, type NdArray } from "diffeo/graph";
import { key } from "diffeo/random";
import type { TrainState } from "diffeo/train";

/** Where each array of a network lies in its flat vector. */
function placesOf({
  parameters,
}: Pick<Model, "parameters">): Map<string, [from: number, to: number]> {
  const places = new Map<string, [number, number]>();
  let at = 0;
  mapTree<NdArray, void>(
    parameters,
    ({ data }, name) => {
      places.set(name, [at, at + data.length]);
      at += data.length;
    },
    isNdArray,
  );
  return places;
}

/** The state of training of a network in a deeper one of the same widths. */
export function deepened(
  model: Model,
  spec: ModelSpec,
  state: TrainState<NdArray>,
): TrainState<NdArray> {
  const deeper = freshModel(spec, key("new layers"));
  const [few, many] = [model.spec.network, spec.network].map(
    (network) => (network as unknown as { readonly layers: number }).layers,
  );
  if (many < few) fail("usage", `${few} layers in a network of ${many}`, "give more layers");
  const from = placesOf(model);
  /** Layer l of the few is the last of its share of the many. */
  const place = new Map(
    Array.from({ length: few }, (_, l) => [Math.floor(((l + 1) * many) / few) - 1, l]),
  );
  const flat = (name: keyof TrainState<NdArray>): NdArray => {
    const old = state[name].data as Float32Array;
    const isWeight = name === "theta" || name === "ema";
    const out: number[] = [];
    mapTree<NdArray, void>(
      deeper.parameters,
      ({ data }, path) => {
        const [, layer, rest] = /^layers\.(\d+)\.(.*)$/.exec(path) ?? [];
        const source = layer === undefined ? undefined : place.get(Number(layer));
        const held = layer === undefined ? path : `layers.${source}.${rest}`;
        const own = from.get(held);
        if (own) for (const v of old.subarray(...own)) out.push(v);
        else for (const v of data) out.push(isWeight && rest !== "down" ? Number(v) : 0);
      },
      isNdArray,
    );
    return { shape: [out.length], dtype: "float32", data: Float32Array.from(out) };
  };
  return { theta: flat("theta"), m: flat("m"), v: flat("v"), ema: flat("ema") };
}
