/** State of the page: the table, its columns, the fit, the model, its samples and likelihoods. */
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
  DrawRequest,
  FitRequest,
  InferredTable,
  Likelihood,
  OpenTable,
  ReadTable,
  ShownDomain,
  Source,
} from "./shapes.ts";

type Tasks = typeof import("./tasks.ts");

/** The part of the page that an error belongs to. */
type Place = "table" | "columns" | "fit" | "use" | "row";

/** A fit in phase "stopped" can continue. */
export type Phase = "empty" | "read" | "fitting" | "stopped" | "fitted";

export class TableRun {
  phase = $state<Phase>("empty");
  table = $state.raw<ReadTable>();
  /** The text of the table, for editing. */
  text = $state.raw("");
  inferred = $state.raw<InferredTable>();
  /** The last error, and the part of the page that it belongs to. */
  trouble = $state.raw<{ readonly of: Place; readonly what: Trouble }>();
  curve = $state.raw<readonly TableProgress[]>([]);
  model = $state.raw<OpenTable>();
  /** The file of the model, if it was opened and not fitted here. */
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

  /** The columns of pictures: those of the model, or else of the table. */
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
   * Stops all computation on the current table or model, so that another one does not wait for it.
   */
  #another(): number {
    this.#fit?.abort();
    this.#leave();
    return ++this.#reading;
  }

  /** Reads a table and returns its own rules; undefined if it failed or another table came. */
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

  /** Infers the kinds of the columns under these rules. */
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

  /** Stops sampling and likelihoods of the current model. */
  #leave(): void {
    this.#draw?.abort();
    this.#likelihoodRun?.abort();
  }

  #forget(): void {
    [this.model, this.likelihood, this.samples, this.curve] = [undefined, undefined, [], []];
    this.phase = "read";
  }

  async fit(request: FitRequest): Promise<void> {
    if (!this.inferred || this.phase === "fitting") return;
    this.#leave();
    if (request.anew) this.#forget();
    this.phase = "fitting";
    this.trouble = undefined;
    const controller = new AbortController();
    this.#fit = controller;
    try {
      const worker = await this.#open();
      const found = await worker.call("fit", request, {
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

  /** Samples rows for the page; a new request stops the previous one. */
  async draw(request: DrawRequest): Promise<void> {
    this.#draw?.abort();
    const controller = new AbortController();
    this.#draw = controller;
    this.drawing = true;
    try {
      const rows = await (await this.#open()).call("draw", request, { signal: controller.signal });
      if (!controller.signal.aborted) {
        this.samples = rows;
        if (this.trouble?.of === "use") this.trouble = undefined;
      }
    } catch (error) {
      if (!controller.signal.aborted) this.#fail("use", error);
    }
    if (this.#draw === controller) this.drawing = false;
  }

  /** Computes the log-likelihood of a row; a new request stops the previous one. */
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

  /** Rows as a file to download. */
  async rowsFile(request: DrawRequest): Promise<Blob | undefined> {
    return this.#file(
      async (worker) => new Blob([await worker.call("drawFile", request)], { type: "text/csv" }),
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
