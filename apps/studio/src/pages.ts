/**
 * Every page: its address after the #, its name, a line about it, and where it is. A page's code is
 * loaded when it is opened. To add one, write a component in pages/ and put a row here; if it
 * computes, put a row into worker.ts too.
 */
import type { Component } from "svelte";
import type { Entry } from "./shell/contents.ts";

interface Page extends Entry {
  /** Whether it computes on a GPU where there is one. Default no. */
  readonly gpu?: boolean;
  readonly load: () => Promise<{ readonly default: Component }>;
}

export const pages: readonly Page[] = [
  {
    path: "",
    title: "Home",
    about: "What diffeo is.",
    load: () => import("./pages/home/Home.svelte"),
  },
  {
    path: "chess",
    title: "Chess",
    about: "Positions that form on the simplex, square by square, out of noise.",
    gpu: true,
    load: () => import("./pages/chess/Chess.svelte"),
  },
  {
    path: "sudoku",
    title: "Sudoku",
    about: "81 simplices of digits that settle around your clues.",
    gpu: true,
    load: () => import("./pages/sudoku/Sudoku.svelte"),
  },
  {
    path: "scores",
    title: "Scores",
    about: "A density and its score, before and after a map.",
    load: () => import("./pages/scores/Scores.svelte"),
  },
  {
    path: "paths",
    title: "Paths",
    about: "A diffusion and its reversal, in two spaces on one Brownian path.",
    load: () => import("./pages/paths/Paths.svelte"),
  },
  {
    path: "posterior",
    title: "Posterior",
    about: "A model that you write, its chains as they move, and what it predicts.",
    load: () => import("./pages/posterior/Posterior.svelte"),
  },
  {
    path: "table",
    title: "Your table",
    about: "A model of the rows of your own CSV file, and densities by three losses.",
    load: () => import("./pages/table/Table.svelte"),
  },
];
