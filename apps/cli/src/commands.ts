/** All commands: what each does, examples, and the file that is loaded when it is called. */
import type { Declare } from "./shell/io.ts";

export interface Leaf {
  readonly about: string;
  /** Its former name, which works for one release and prints a notice. */
  readonly oldName?: string;
  /** Calls that `--help` and the reference show, unless the command's own help has some. */
  readonly examples?: readonly string[];
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
      examples: [
        "diffeo chess data games.pgn --format pgn",
        "diffeo chess data positions.csv more.fen",
      ],
      load: () => import("./chess/data.ts"),
    },
    train: {
      about: "train a score on chess positions",
      examples: ["diffeo chess train --data positions.csv --out runs/chess"],
      load: () => import("./chess/train.ts"),
    },
    export: {
      about: "write a trained network as ONNX, and check it in ONNX Runtime",
      examples: ["diffeo chess export --model unet --out chess.onnx"],
      load: () => import("./chess/export.ts"),
    },
    sample: {
      about: "sample chess positions from a trained model",
      examples: [
        "diffeo chess sample --count 64 --format fen --out boards.fen",
        "diffeo chess sample --count 1000000 --format fen --out boards.fen --queue " +
          "redis://host:6379",
      ],
      load: () => import("./chess/sample.ts"),
    },
    complete: {
      about: "fill in the unknown squares of a position; known squares stay as they are",
      examples: ['diffeo chess complete "8/8/8/3?K3/8/8/8/7k" --count 4'],
      load: () => import("./chess/complete.ts"),
    },
    calibrate: {
      about: "measure the errors of a model over time, so that its time grid can be fitted to them",
      examples: [
        "diffeo chess calibrate --model small --data held-out.csv --out calibrated.safetensors",
      ],
      load: () => import("./chess/calibrate.ts"),
    },
    figure: {
      about:
        "sample boards at several drift scales, and show them in the terminal and as SVG and PNG",
      examples: ["diffeo chess figure --out figure"],
      load: () => import("./chess/figure.ts"),
    },
    evaluate: {
      about:
        "compare samples of a model, or positions of a file, with real positions and with " +
        "independent squares",
      examples: ["diffeo chess evaluate boards.fen", "diffeo chess evaluate --model small"],
      load: () => import("./chess/evaluate.ts"),
    },
    study: {
      about:
        "measure pieces and legality over w, for steps in logits and on the simplex; " +
        "continues where it was stopped",
      examples: ["diffeo chess study --out studies/drift-scale"],
      load: () => import("./chess/study.ts"),
    },
    report: {
      about: "write the table and the figure of a study again, from its records",
      examples: ["diffeo chess report studies/drift-scale"],
      load: () => import("./chess/report.ts"),
    },
  },
};

const density: Group = {
  about: "density estimation by generalised sliced score matching",
  commands: {
    fit: {
      about:
        "fit a deep kernel exponential family to a table of numbers; an interrupted fit is lost",
      examples: ["diffeo density fit --data table.csv --out runs/density"],
      load: () => import("./density/fit.ts"),
    },
    score: {
      about: "write the log-density and the score of every row of a table",
      examples: [
        "diffeo density score --model runs/density/model.safetensors --data table.csv --out " +
          "scores.csv",
      ],
      load: () => import("./density/score.ts"),
    },
    sample: {
      about: "sample rows from a fitted density",
      examples: [
        "diffeo density sample --model runs/density/model.safetensors --count 1000 --out rows.csv",
      ],
      load: () => import("./density/sample.ts"),
    },
    picture: {
      about: "draw the densities of two columns and their scores with the data, as SVG and PNG",
      examples: [
        "diffeo density picture --models runs/density/model.safetensors --data table.csv " +
          "--out density",
      ],
      load: () => import("./density/picture.ts"),
    },
    study: {
      about: "compare the losses over datasets and seeds; continues where it was stopped",
      examples: ["diffeo density study --out studies/uci --workers 4"],
      load: () => import("./density/study.ts"),
    },
    report: {
      about: "write the table and the figures of a study again, from its records",
      examples: ["diffeo density report studies/uci"],
      load: () => import("./density/report.ts"),
    },
  },
};

const table: Group = {
  about:
    "models of tables whose columns have domains: positive, bounded, ordered, parts of a " +
    "whole, categories",
  commands: {
    fit: {
      about: "fit a model to a table; prints the domain of each column, and why it was chosen",
      examples: [
        "diffeo table fit houses.csv --out houses.model",
        "diffeo table fit houses.csv --out houses.model --minutes 10 --seeds 3",
      ],
      load: () => import("./table/fit.ts"),
    },
    demo: {
      about:
        "fit, sample, complete and report on a small table that comes with diffeo; takes " +
        "about a minute",
      examples: ["diffeo table demo --out demo/"],
      load: () => import("./table/demo.ts"),
    },
    sample: {
      about: "sample rows from a model; every row lies in the domains of the columns",
      examples: [
        "diffeo table sample --model houses.model --count 1000 --out rows.csv",
        "diffeo table sample --model houses.model --given ward=north --given rooms=4",
      ],
      load: () => import("./table/sample.ts"),
    },
    complete: {
      about: "fill the empty cells of a table, several times",
      examples: [
        "diffeo table complete rows.csv --model houses.model --out completed.csv",
        "diffeo table complete rows.csv --model houses.model --point --out completed.csv",
      ],
      load: () => import("./table/complete.ts"),
    },
    likelihood: {
      about: "write the log-likelihood of every row of a table",
      oldName: "score",
      examples: ["diffeo table likelihood new.csv --model houses.model --out likelihoods.csv"],
      load: () => import("./table/likelihood.ts"),
    },
    evaluate: {
      about:
        "evaluate a model on rows that it was not fitted to, compared with baselines and with " +
        "chance",
      examples: ["diffeo table evaluate test.csv --model houses.model"],
      load: () => import("./table/evaluate.ts"),
    },
    picture: {
      about: "draw the columns of a table and of rows sampled from its model, as SVG or PNG",
      examples: ["diffeo table picture --model houses.model --data houses.csv --out houses.svg"],
      load: () => import("./table/picture.ts"),
    },
    export: {
      about:
        "write the score of a model, or its map from x to rows, as ONNX, and check it in ONNX " +
        "Runtime",
      examples: ["diffeo table export --model houses.model --out houses.onnx"],
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
      about:
        "sample grids, guided by rules if some are given, or complete grids with unknown sites",
      examples: [
        "diffeo grid sample --model sudoku.model --count 8",
        'diffeo grid sample --model sudoku.model --rules "sum (1, *) = 45" --count 4',
      ],
      load: () => import("./grid/sample.ts"),
    },
  },
};

export const commands: Group = {
  about: "Scores, SDEs, samplers and score matching through smooth invertible maps.",
  commands: {
    check: {
      about:
        "check the properties of a map: round trip, Jacobians, log-determinant, scores, Itô " +
        "terms, reversal",
      examples: ["diffeo check", "diffeo check --map my-map.mjs --event 3"],
      load: () => import("./check.ts"),
    },
    sample: {
      about: "sample from a score network in an ONNX file, through a map to the domain of the data",
      examples: [
        "diffeo sample --score net.onnx --predicts noise --map expMap --count 1000 --out " +
          "samples.csv",
      ],
      load: () => import("./sample.ts"),
    },
    worker: {
      about: "run the jobs that commands with --queue put on a server",
      examples: [
        "diffeo worker --queue redis://host:6379 --name lab",
        "diffeo worker --queue redis://host:6379 --once --jobs 4 --threads 1",
      ],
      load: () => import("./queue/serve.ts"),
    },
    queue: {
      about: "list the jobs, workers and failures on a server",
      examples: ["diffeo queue --queue redis://host:6379"],
      load: () => import("./queue/list.ts"),
    },
    study: {
      about: "run a study of the paper's claims; continues where it was stopped",
      load: () => import("./study/study.ts"),
    },
    devices: {
      about: "list the devices that can run a graph",
      examples: ["diffeo devices"],
      load: () => import("./devices.ts"),
    },
    studio: {
      about: "serve the studio, a web app, to browsers on this machine",
      examples: ["diffeo studio", "diffeo studio --port 0"],
      load: () => import("./studio/studio.ts"),
    },
    infer: {
      about: "sample a posterior on constrained parameters by MCMC; continues where it was stopped",
      load: () => import("./infer/infer.ts"),
    },
    compare: {
      about: "compare models by leave-one-out cross-validation, from runs of infer --loo",
      load: () => import("./infer/compare.ts"),
    },
    calibrate: {
      about: "check a posterior model and its sampler on simulated data",
      load: () => import("./infer/calibrate.ts"),
    },
    chess,
    density,
    grid,
    table,
  },
};
