/**
 * Links to the documentation site, if the studio is a part of it. The site's build writes its
 * address into `<meta name="documentation">` of index.html. `diffeo studio` serves the studio
 * alone, without links to documents.
 */

/** Pages that the studio links to. */
export const documents = {
  start: { page: "start/index.html", title: "Install diffeo and get a first result" },
  lemma: { page: "explanation/reverse-time-ito.html", title: "The reverse-time Itô lemma" },
  theorem: { page: "explanation/theorem.html", title: "The theorem" },
  training: { page: "explanation/where-to-train.html", title: "Where to train the score" },
  losses: { page: "explanation/score-matching.html", title: "Score matching losses" },
  pictures: { page: "tutorials/paper-in-ten-pictures.html", title: "The paper in ten pictures" },
  chess: { page: "how-to/chess-positions.html", title: "Generate chess positions" },
  control: { page: "how-to/control-samples.html", title: "Control samples" },
  completion: { page: "how-to/complete-grids.html", title: "Complete grids" },
  grid: { page: "tutorials/grid.html", title: "Tutorial: a custom grid" },
  densities: { page: "how-to/densities.html", title: "Fit densities" },
  posterior: { page: "tutorials/posterior.html", title: "Tutorial: a posterior" },
  models: { page: "reference/models.html", title: "Statements and distributions" },
  checks: { page: "how-to/posteriors-check.html", title: "Check a posterior" },
  table: { page: "tutorials/table.html", title: "Tutorial: your table" },
  columns: { page: "reference/tables.html", title: "Kinds of columns and rules" },
  rows: { page: "how-to/tables-evaluate.html", title: "Evaluate a model of a table" },
  studio: { page: "how-to/studio.html", title: "Use and host the studio" },
  results: { page: "results/paper.html", title: "Results for each claim of the paper" },
} as const;

export type DocumentName = keyof typeof documents;

/** The address of the documentation site; undefined if the studio is served alone. */
export const documentationAddress = (): string | undefined =>
  document.querySelector<HTMLMetaElement>('meta[name="documentation"]')?.content || undefined;

/** Links to documents; empty if the studio is served alone. */
export function documentLinks(
  ...names: readonly DocumentName[]
): { readonly href: string; readonly title: string }[] {
  const address = documentationAddress();
  return address === undefined
    ? []
    : names.map((name) => ({
        href: `${address}${documents[name].page}`,
        title: documents[name].title,
      }));
}
