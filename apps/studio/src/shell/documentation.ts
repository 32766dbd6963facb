/**
 * Links to the documentation site, if the studio is a part of it. The site's build writes its address
 * into `<meta name="documentation">` of index.html. `diffeo studio` serves the studio alone, without
 * links to documents.
 */

/** Pages that the studio links to. */
export const documents = {
  start: { page: "start/index.html", title: "Install diffeo and get a first result" },
  lemma: { page: "explanation/reverse-time-ito.html", title: "The reverse-time Itô lemma" },
  theorem: { page: "explanation/theorem.html", title: "The theorem" },
  results: { page: "results/paper.html", title: "Results on the claims of the paper" },
} as const;

type DocumentName = keyof typeof documents;

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
