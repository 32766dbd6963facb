/** Every command, what it does in a line, and where it is: its code is loaded when it is called. */
import type { Declare } from "./shell/io.ts";

export interface Leaf {
  readonly about: string;
  /** What it was called before: this name works for one release, with a notice. */
  readonly oldName?: string;
  readonly load: () => Promise<{ readonly declare: Declare }>;
}

export interface Group {
  readonly about: string;
  readonly commands: Readonly<Record<string, Leaf | Group>>;
}

const chess: Group = {
  about: "chess positions by diffusion on the simplex",
  commands: {
    data: {
      about: "read positions (Kaggle CSV, FEN, EPD, PGN; plain or gzip), count them, pack them",
      load: () => import("./chess/data.ts"),
    },
    train: { about: "train a score on chess positions", load: () => import("./chess/train.ts") },
    export: {
      about: "write a trained network as ONNX, and check it in ONNX Runtime",
      load: () => import("./chess/export.ts"),
    },
    sample: {
      about: "draw chess positions from a trained model",
      load: () => import("./chess/sample.ts"),
    },
    complete: {
      about: "fill in the unknown squares of a position; known ones are always kept",
      load: () => import("./chess/complete.ts"),
    },
    calibrate: {
      about:
        "measure how far a model is from the truth at which time, so that its time grid can be fitted to it",
      load: () => import("./chess/calibrate.ts"),
    },
    figure: {
      about: "draw boards at several drift scales, in the terminal and as SVG and PNG",
      load: () => import("./chess/figure.ts"),
    },
    evaluate: {
      about:
        "measure samples of a model, or positions of a file, beside real ones and beside independent squares",
      load: () => import("./chess/evaluate.ts"),
    },
    study: {
      about:
        "w against pieces and legality, for steps in logits and on the simplex; continues where it was stopped",
      load: () => import("./chess/study.ts"),
    },
    report: {
      about: "write table and figure anew from the records of a study",
      load: () => import("./chess/report.ts"),
    },
  },
};

const density: Group = {
  about: "density estimation by generalised sliced score matching",
  commands: {
    fit: {
      about:
        "fit a deep kernel exponential family to a table of numbers; interrupted, it keeps nothing",
      load: () => import("./density/fit.ts"),
    },
    score: {
      about: "log density and score of every row of a table",
      load: () => import("./density/score.ts"),
    },
    sample: {
      about: "rows drawn from a fitted density",
      load: () => import("./density/sample.ts"),
    },
    picture: {
      about: "densities of two columns and their scores beside the data, as SVG and PNG",
      load: () => import("./density/picture.ts"),
    },
    study: {
      about: "compare the losses over datasets and seeds; continues where it was stopped",
      load: () => import("./density/study.ts"),
    },
    report: {
      about: "write table and figures anew from the records of a study",
      load: () => import("./density/report.ts"),
    },
  },
};

const table: Group = {
  about:
    "models of tables whose columns live somewhere: positive, bounded, ordered, parts of a whole, categories",
  commands: {
    fit: {
      about: "fit a model to a CSV file; says which domain each column was taken to have, and why",
      load: () => import("./table/fit.ts"),
    },
    demo: {
      about: "the whole round on a small table that comes with diffeo: a minute to a report",
      load: () => import("./table/demo.ts"),
    },
    sample: {
      about: "rows drawn from a model; all of them are inside its domains",
      load: () => import("./table/sample.ts"),
    },
    complete: {
      about: "fill the empty cells of a CSV file, several times",
      load: () => import("./table/complete.ts"),
    },
    likelihood: {
      about: "the log-likelihood of every row of a CSV file",
      oldName: "score",
      load: () => import("./table/likelihood.ts"),
    },
    evaluate: {
      about:
        "what a model is worth on rows it has not seen: beside baselines and the floor of chance",
      load: () => import("./table/evaluate.ts"),
    },
    picture: {
      about: "columns of a table beside rows drawn from its model, as SVG or PNG",
      load: () => import("./table/picture.ts"),
    },
    export: {
      about:
        "write a model's score, or its map from x to rows, as ONNX, and check it in ONNX Runtime",
      load: () => import("./table/export.ts"),
    },
  },
};

const grid: Group = {
  about: "grids and sequences of symbols: Sudokus, tilings, words",
  commands: {
    fit: {
      about: "train a model of grids, one per line of a text; continues where it was stopped",
      load: () => import("./grid/fit.ts"),
    },
    sample: {
      about: "sample grids, led by rules, or complete grids of which some sites are known",
      load: () => import("./grid/sample.ts"),
    },
  },
};

export const commands: Group = {
  about: "Scores, SDEs, samplers and score matching through smooth invertible maps.",
  commands: {
    check: {
      about:
        "hold a map to its laws: round trip, Jacobians, log-determinant, scores, Itô terms, reversal",
      load: () => import("./check.ts"),
    },
    sample: {
      about: "draw from a score network out of an ONNX file, through a map to where the data lives",
      load: () => import("./sample.ts"),
    },
    worker: {
      about: "do jobs of studies, draws and chains that commands with --queue put on a server",
      load: () => import("./queue/serve.ts"),
    },
    queue: {
      about: "list what is on a server: jobs, workers and failures",
      load: () => import("./queue/list.ts"),
    },
    study: {
      about: "run a study of what the paper claims; continues where it was stopped",
      load: () => import("./study/study.ts"),
    },
    devices: { about: "list the devices that can run a graph", load: () => import("./devices.ts") },
    studio: {
      about: "serve the studio, the web app, to this machine's browsers",
      load: () => import("./studio/studio.ts"),
    },
    infer: {
      about:
        "draws from a posterior on constrained parameters, by chains; continues where it was stopped",
      load: () => import("./infer/infer.ts"),
    },
    compare: {
      about: "compare models by leave-one-out cross-validation, from runs of infer --loo",
      load: () => import("./infer/compare.ts"),
    },
    calibrate: {
      about: "check a posterior model and its sampler by simulated data",
      load: () => import("./infer/calibrate.ts"),
    },
    chess,
    density,
    grid,
    table,
  },
};
