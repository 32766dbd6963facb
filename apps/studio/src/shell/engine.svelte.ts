/**
 * The engine that computes: WebGPU if the browser offers a hardware GPU, otherwise WebAssembly,
 * with several threads if the host sends the headers for them. The reader may choose another; the
 * badge in the header shows which engine it is and why.
 */

export const wishes = ["auto", "webgpu", "cpu"] as const;
export type Wish = (typeof wishes)[number];

export interface Engine {
  /** The library's name for it. */
  readonly device: "webgpu" | "cpu";
  readonly threads: number;
  readonly label: string;
  /** The reason for this engine, as a sentence. */
  readonly about: string;
}

interface Adapter {
  readonly info?: { readonly isFallbackAdapter?: boolean };
  readonly isFallbackAdapter?: boolean;
}
type Gpu = { requestAdapter(): Promise<Adapter | null> };

const NAME = "diffeo-engine";

function storedWish(): Wish {
  try {
    return wishes.find((wish) => wish === localStorage.getItem(NAME)) ?? "auto";
  } catch {
    return "auto";
  }
}

/** All cores up to two, half of more: many processors report each core twice. */
function threadCount(): number {
  const cores = navigator.hardwareConcurrency ?? 1;
  return crossOriginIsolated ? Math.min(4, cores, Math.max(2, Math.ceil(cores / 2))) : 1;
}

function webAssembly(reason: string): Engine {
  const threads = threadCount();
  const isolated = crossOriginIsolated
    ? ""
    : " It uses one thread, because the host of this page does not send the headers that " +
      "threads need. The command diffeo studio sends them.";
  return {
    device: "cpu",
    threads,
    label: `WebAssembly, ${threads === 1 ? "1 thread" : `${threads} threads`}`,
    about: `Computation runs on this machine's processor. ${reason}${isolated}`,
  };
}

/** Operations that WebGPU lacks run in WebAssembly, with these threads. */
const webGpu = (): Engine => ({
  device: "webgpu",
  threads: threadCount(),
  label: "WebGPU",
  about: "Computation runs on this machine's graphics processor.",
});

async function find(wish: Wish): Promise<Engine> {
  if (wish === "cpu") return webAssembly("You chose WebAssembly.");
  const { gpu } = navigator as unknown as { readonly gpu?: Gpu };
  const adapter = await gpu?.requestAdapter().catch(() => null);
  if (!adapter) return webAssembly("This browser does not support WebGPU.");
  const software = adapter.info?.isFallbackAdapter ?? adapter.isFallbackAdapter ?? false;
  if (software && wish === "auto")
    return webAssembly("The browser emulates WebGPU in software, which is slower.");
  return webGpu();
}

const state = $state<{ wish: Wish; engine: Engine | undefined }>({
  wish: storedWish(),
  engine: undefined,
});
let finding: Promise<Engine> | undefined;

/** The engine to compute with, detected once. */
export function engine(): Promise<Engine> {
  finding ??= find(state.wish).then((found) => {
    state.engine = found;
    return found;
  });
  return finding;
}

/**
 * The engine that the badge shows; undefined until it is detected.
 * @param gpu whether the page uses the GPU
 */
export const shownEngine = (gpu: boolean): Engine | undefined =>
  state.engine?.device === "webgpu" && !gpu
    ? webAssembly(
        "This page computes in double precision or with small graphs; only Chess and Sudoku " +
          "use the graphics processor.",
      )
    : state.engine;
export const engineWish = (): Wish => state.wish;

/** Applies the reader's choice; the page starts again with it. */
export function wishEngine(wish: Wish): void {
  state.wish = wish;
  finding = undefined;
  state.engine = undefined;
  try {
    localStorage.setItem(NAME, wish);
  } catch {
    // Without storage the choice lasts for this visit.
  }
  void engine();
}

/** Switches to WebAssembly after the GPU failed, and records why. */
export function fallBack(why: string): Engine {
  const found = webAssembly(`WebGPU failed: ${why}`);
  finding = Promise.resolve(found);
  state.engine = found;
  return found;
}
