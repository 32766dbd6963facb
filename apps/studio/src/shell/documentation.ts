/**
 * The address of the documentation site, if the studio is a part of it. The site's build writes it
 * into `<meta name="documentation">` of index.html; `diffeo studio` serves the studio alone, without
 * links to documents.
 */
export const documentationAddress = (): string | undefined =>
  document.querySelector<HTMLMetaElement>('meta[name="documentation"]')?.content || undefined;
