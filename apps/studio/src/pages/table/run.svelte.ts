/**
 * A table as the page has it: what was read, what its columns are, the fit while it runs, the model
 * and what is asked of it.
 */
import type { TableProgress } from "diffeo-tables";
import { engine } from "../../shell/engine.svelte.ts";
import {
  isStopped,
  type OpenWorker,
  openWorker,
  type Trouble,
  troubleOf,
} from "../../shell/rpc.ts";
import type {
  Cell,
  DrawAsk,
  FitAsk,
  InferredTable,
  Likelihood,
  OpenTable,
  ReadTable,
  ShownDomain,
  Source,
} from "./shapes.ts";

type Tasks = typeof import("./tasks.ts");

/** What something is wrong with. */
type Place = "table" | "columns" | "fit" | "use" | "row";

/** "stopped" can go on. */
export type Phase = "empty" | "read" | "fitting" | "stopped" | "fitted";

export class TableRun {
  phase = $state<Phase>("empty");
  table = $state.raw<ReadTable>();
  /** The text of the table, while it is small enough to be mended in the page. */
  text = $state.raw("");
  inferred = $state.raw<InferredTable>();
  /** What is wrong, by what it is wrong with. */
  trouble = $state.raw<{ readonly of: Place; readonly what: Trouble }>();
  curve = $state.raw<readonly TableProgress[]>([]);
  model = $state.raw<OpenTable>();
  /** Where the model came from, if not from here. */
  file = $state("");
  samples = $state.raw<readonly (readonly Cell[])[]>([]);
  drawing = $state(false);
  likelihood = $state.raw<Likelihood>();
  findingLikelihood = $state(false);
  #worker: OpenWorker<Tasks> | undefined;
  #fit: AbortController | undefined;
  #draw: AbortController | undefined;
  #likelihoodRun: AbortController | undefined;
  #reading = 0;
  #closed = false;

  /** What pictures are of: the model's columns, or those of the table. */
  get domain(): ShownDomain | undefined {
    return this.model?.domain ?? this.inferred?.domain;
  }

  get data(): InferredTable["data"] {
    return this.inferred?.data ?? [];
  }

  async #open(): Promise<OpenWorker<Tasks>> {
    const { threads } = await engine();
    if (this.#closed) throw new DOMException("the page was left", "AbortError");
    this.#worker ??= openWorker<Tasks>("table", threads);
    return this.#worker;
  }

  #fail(of: Place, error: unknown): void {
    if (!isStopped(error)) this.trouble = { of, what: troubleOf(error) };
  }

  /**
   * Stops what is asked of a table or model before another comes, which would wait for it: there is
   * one worker.
   */
  #another(): number {
    this.#fit?.abort();
    this.#leave();
    return ++this.#reading;
  }

  /** Reads a table, and gives the rules that go with it. */
  async read(source: Source): Promise<readonly string[] | undefined> {
    const own = this.#another();
    [this.trouble, this.inferred, this.model, this.likelihood] = [
      undefined,
      undefined,
      undefined,
      undefined,
    ];
    [this.samples, this.curve, this.file] = [[], [], ""];
    this.text = source.kind === "text" ? source.text : "";
    try {
      const table = await (await this.#open()).call("read", source);
      if (own !== this.#reading) return undefined;
      this.table = table;
      this.text = table.text ?? this.text;
      this.phase = "read";
      return table.rules;
    } catch (error) {
      if (own !== this.#reading) return undefined;
      [this.table, this.phase] = [undefined, "empty"];
      this.#fail("table", error);
      return undefined;
    }
  }

  /** What the columns are by these rules. */
  async infer(rules: readonly string[]): Promise<void> {
    if (!this.table) return;
    const own = this.#reading;
    try {
      const inferred = await (await this.#open()).call("infer", rules);
      if (own !== this.#reading) return;
      this.inferred = inferred;
      this.trouble = undefined;
      if (this.phase !== "fitting") this.#forget();
    } catch (error) {
      if (own === this.#reading) this.#fail("columns", error);
    }
  }

  /** What is asked of a model ends with it. */
  #leave(): void {
    this.#draw?.abort();
    this.#likelihoodRun?.abort();
  }

  #forget(): void {
    [this.model, this.likelihood, this.samples, this.curve] = [undefined, undefined, [], []];
    this.phase = "read";
  }

  async fit(ask: FitAsk): Promise<void> {
    if (!this.inferred || this.phase === "fitting") return;
    this.#leave();
    if (ask.anew) this.#forget();
    this.phase = "fitting";
    this.trouble = undefined;
    const controller = new AbortController();
    this.#fit = controller;
    try {
      const worker = await this.#open();
      const found = await worker.call("fit", ask, {
        signal: controller.signal,
        onReport: (update) => {
          if (this.#fit !== controller) return;
          if (update.kind === "samples") this.samples = update.rows;
          else this.curve = [...this.curve, update.progress];
        },
      });
      if (this.#fit !== controller) return;
      if (found !== "stopped") this.model = found;
      this.phase = controller.signal.aborted ? "stopped" : "fitted";
    } catch (error) {
      if (this.#fit !== controller) return;
      this.phase = "read";
      this.#fail("fit", error);
    }
  }

  stop(): void {
    this.#fit?.abort();
  }

  async openModel(name: string, bytes: Uint8Array): Promise<void> {
    const own = this.#another();
    try {
      const model = await (await this.#open()).call("openModel", { name, bytes });
      if (own !== this.#reading) return;
      [this.table, this.inferred, this.likelihood, this.trouble] = [
        undefined,
        undefined,
        undefined,
        undefined,
      ];
      [this.samples, this.curve, this.text] = [[], [], ""];
      [this.model, this.file, this.phase] = [model, name, "fitted"];
    } catch (error) {
      if (own === this.#reading) this.#fail("table", error);
    }
  }

  /** Draws rows to look at; of several that are asked for, the last. */
  async draw(ask: DrawAsk): Promise<void> {
    this.#draw?.abort();
    const controller = new AbortController();
    this.#draw = controller;
    this.drawing = true;
    try {
      const rows = await (await this.#open()).call("draw", ask, { signal: controller.signal });
      if (!controller.signal.aborted) {
        this.samples = rows;
        if (this.trouble?.of === "use") this.trouble = undefined;
      }
    } catch (error) {
      if (!controller.signal.aborted) this.#fail("use", error);
    }
    if (this.#draw === controller) this.drawing = false;
  }

  /** How likely a row is; of several that are asked for, the last. */
  async findLikelihood(row: readonly string[]): Promise<void> {
    this.#likelihoodRun?.abort();
    const controller = new AbortController();
    this.#likelihoodRun = controller;
    this.findingLikelihood = true;
    try {
      const show = (likelihood: Likelihood): void => {
        if (!controller.signal.aborted) this.likelihood = likelihood;
      };
      show(
        await (await this.#open()).call("logLikelihood", row, {
          signal: controller.signal,
          onReport: show,
        }),
      );
      if (this.trouble?.of === "row") this.trouble = undefined;
    } catch (error) {
      if (!controller.signal.aborted) this.#fail("row", error);
    }
    if (this.#likelihoodRun === controller) this.findingLikelihood = false;
  }

  /** What a download holds. */
  async rowsFile(ask: DrawAsk): Promise<Blob | undefined> {
    return this.#file(
      async (worker) => new Blob([await worker.call("drawFile", ask)], { type: "text/csv" }),
    );
  }

  async modelFile(): Promise<Blob | undefined> {
    return this.#file(
      async (worker) => new Blob([(await worker.call("modelFile", null)) as BlobPart]),
    );
  }

  async #file(make: (worker: OpenWorker<Tasks>) => Promise<Blob>): Promise<Blob | undefined> {
    try {
      return await make(await this.#open());
    } catch (error) {
      this.#fail("use", error);
      return undefined;
    }
  }

  close(): void {
    this.#closed = true;
    this.#fit?.abort();
    this.#worker?.close();
  }
}
