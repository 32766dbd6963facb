/**
 * The pages: address after the #, title, one line about it, and component. The browser loads a
 * page's code when the page is opened. To add a page, write a component in pages/ and add a row
 * here; if it computes, add a row to worker.ts too.
 */
import type { Component } from "svelte";
import type { Entry } from "./shell/contents.ts";

interface Page extends Entry {
  /** Whether it uses a GPU if there is one. Default no. */
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
    about:
      "Generate chess positions by diffusion on the probability simplex, or complete a " +
      "position that you paint.",
    gpu: true,
    load: () => import("./pages/chess/Chess.svelte"),
  },
  {
    path: "sudoku",
    title: "Sudoku",
    about: "Complete Sudoku puzzles by diffusion of 81 digit distributions around your clues.",
    gpu: true,
    load: () => import("./pages/sudoku/Sudoku.svelte"),
  },
  {
    path: "scores",
    title: "Scores",
    about: "See a density and its score before and after a map, and the two terms of the theorem.",
    load: () => import("./pages/scores/Scores.svelte"),
  },
  {
    path: "paths",
    title: "Paths",
    about: "Follow a diffusion and its reversal in two spaces, driven by the same Brownian path.",
    load: () => import("./pages/paths/Paths.svelte"),
  },
  {
    path: "posterior",
    title: "Posterior",
    about: "Write a Bayesian model, sample its posterior, and check the chains and predictions.",
    load: () => import("./pages/posterior/Posterior.svelte"),
  },
  {
    path: "table",
    title: "Tables",
    about:
      "Fit a generative model to the rows of your file, or compare three score-matching losses.",
    load: () => import("./pages/table/Table.svelte"),
  },
];
