/**
 * What computes: the GPU where the browser offers a real one, WebAssembly otherwise, on several
 * threads where the host sends the headers for it. The reader may choose; the badge in the page's
 * head says what it is and why.
 */

export const wishes = ["auto", "webgpu", "cpu"] as const;
export type Wish = (typeof wishes)[number];

export interface Engine {
  /** As the library names it. */
  readonly device: "webgpu" | "cpu";
  readonly threads: number;
  readonly label: string;
  /** Why it is this one, in a sentence. */
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

/** All of two cores, half of many: of those, half are usually the same core a second time. */
function threadCount(): number {
  const cores = navigator.hardwareConcurrency ?? 1;
  return crossOriginIsolated ? Math.min(4, cores, Math.max(2, Math.ceil(cores / 2))) : 1;
}

function webAssembly(reason: string): Engine {
  const threads = threadCount();
  const isolated = crossOriginIsolated
    ? ""
    : " It has one thread because the host of this page does not send the headers that threads need; diffeo studio does.";
  return {
    device: "cpu",
    threads,
    label: `WebAssembly, ${threads === 1 ? "1 thread" : `${threads} threads`}`,
    about: `Computed by this machine's processor. ${reason}${isolated}`,
  };
}

/** Its threads are for WebAssembly, should it have to help. */
const webGpu = (): Engine => ({
  device: "webgpu",
  threads: threadCount(),
  label: "WebGPU",
  about: "Computed by this machine's graphics processor.",
});

async function find(wish: Wish): Promise<Engine> {
  if (wish === "cpu") return webAssembly("You chose it.");
  const { gpu } = navigator as unknown as { readonly gpu?: Gpu };
  const adapter = await gpu?.requestAdapter().catch(() => null);
  if (!adapter) return webAssembly("This browser offers the page no WebGPU.");
  const software = adapter.info?.isFallbackAdapter ?? adapter.isFallbackAdapter ?? false;
  if (software && wish === "auto")
    return webAssembly("The browser's WebGPU is software here, which is slower.");
  return webGpu();
}

const state = $state<{ wish: Wish; engine: Engine | undefined }>({
  wish: storedWish(),
  engine: undefined,
});
let finding: Promise<Engine> | undefined;

/** The engine to compute with; found once. */
export function engine(): Promise<Engine> {
  finding ??= find(state.wish).then((found) => {
    state.engine = found;
    return found;
  });
  return finding;
}

/**
 * What the badge shows: nothing until it is known.
 * @param gpu whether the page gives a GPU anything to do
 */
export const shownEngine = (gpu: boolean): Engine | undefined =>
  state.engine?.device === "webgpu" && !gpu
    ? webAssembly(
        "What this page does is small or in double precision; the graphics processor makes chess positions.",
      )
    : state.engine;
export const engineWish = (): Wish => state.wish;

/** The reader's choice. Pages start anew with it. */
export function wishEngine(wish: Wish): void {
  state.wish = wish;
  finding = undefined;
  state.engine = undefined;
  try {
    localStorage.setItem(NAME, wish);
  } catch {
    // It holds for this visit.
  }
  void engine();
}

/** After the GPU failed: WebAssembly, and why. */
export function fallBack(why: string): Engine {
  const found = webAssembly(`WebGPU was tried first: ${why}`);
  finding = Promise.resolve(found);
  state.engine = found;
  return found;
}
