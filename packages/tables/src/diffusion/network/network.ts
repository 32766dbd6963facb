/**
 * The networks that a table can be fitted with. Two give the score of diffusion: a residual
 * network, which sees a row as one vector (`diffusion`), and a transformer, whose tokens are the
 * coordinates of x, those of one label or integer together. The third predicts masked cells
 * (`words.ts`).
 */
import type { NdArray } from "diffeo/graph";
import type { NetworkSpec, Parameters } from "diffeo/model";
import type { Head } from "./head.ts";

/** The kinds of networks of rows, by name. */
export const networkKinds = ["diffusion", "transformer", "masked"] as const;
/** The name of a kind of network. */
export type NetworkKind = (typeof networkKinds)[number];

export interface NetworkOptions {
  readonly network?: NetworkKind;
  readonly width?: number;
  readonly blocks?: number;
}

export interface Weights {
  readonly network: NetworkSpec;
  readonly parameters: Parameters<NdArray>;
}

/** The coordinates of x that each token stands for. */
function tokensOf({ blocks }: Head, n: number): number[][] {
  const tokens: number[][] = [];
  for (let i = 0; i < n; ) {
    const block = blocks.find(({ from }) => from === i);
    const to = block?.to ?? i + 1;
    tokens.push(Array.from({ length: to - i }, (_, j) => i + j));
    i = to;
  }
  return tokens;
}

function transformerOf(head: Head, n: number, width: number, layers: number): NetworkSpec {
  const { outputs, blocks } = head;
  const tokens = tokensOf(head, n);
  const tokenAt = (i: number): number => tokens.findIndex((own) => own.includes(i));
  const says = [
    ...Array.from({ length: n }, (_, i) => tokenAt(i)),
    // Logits come after all coordinates, in the order of the blocks.
    ...blocks.flatMap(({ from, codes: { shape } }) =>
      Array.from({ length: shape[0] }, () => tokenAt(from)),
    ),
  ];
  return {
    kind: "columns",
    channels: n,
    ...(outputs !== n && { outputs }),
    sees: tokens,
    says,
    width,
    layers,
    heads: 4,
  };
}

/** The network of rows of n coordinates. */
export function networkFor(
  head: Head,
  n: number,
  { network = "diffusion", width, blocks }: NetworkOptions,
): NetworkSpec {
  const { outputs } = head;
  return network === "transformer"
    ? transformerOf(head, n, width ?? 64, blocks ?? 2)
    : {
        kind: "residual",
        channels: n,
        ...(outputs !== n && { outputs }),
        width: width ?? 128,
        blocks: blocks ?? 3,
      };
}
