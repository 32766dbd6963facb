/** The documentation site: `npm run docs` builds it, `npm run docs:dev` serves it while it changes. */
import { tex } from "@mdit/plugin-tex";
import { renderToString } from "katex";
import { defineConfig } from "vitepress";
import { bar, sidebar } from "./navigation.ts";
import { copyLinkedFiles, linkToRepository } from "./repository.ts";
import { nameColumns } from "./tables.ts";

/** The names of headings in addresses, as GitHub makes them: links work in both places. */
const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/** KaTeX's style sheet names every font in three formats; every current browser reads the first. */
const woff2Only = {
  name: "woff2-only",
  enforce: "pre" as const,
  transform: (code: string, id: string): string | undefined =>
    id.includes("katex.min.css")
      ? code.replaceAll(/,url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)/g, "")
      : undefined,
};

const base = process.env.DIFFEO_SITE_BASE ?? "/";

export default defineConfig({
  title: "diffeo",
  description: "Score-based modelling through smooth invertible maps, in TypeScript.",
  lang: "en",
  // Where the site is served: "/" is the root of a host, "/diffeo/" a folder of one.
  base,
  head: [["link", { rel: "icon", href: `${base}icon.svg` }]],
  cleanUrls: false,
  metaChunk: true,
  // Outside of what VitePress knows as pages: the studio, and copies of the repository's files.
  ignoreDeadLinks: [/^\/studio\//, /^\/files\//],
  // The largest chunk is the index of the search, which is fetched when somebody searches.
  vite: { plugins: [woff2Only], build: { chunkSizeWarningLimit: 3000 } },
  markdown: {
    anchor: { slugify },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config(md) {
      md.use(linkToRepository);
      md.use(nameColumns);
      md.use(tex, {
        // v-pre: braces of TeX are not expressions of Vue.
        render: (content: string, displayMode: boolean) =>
          renderToString(content, { displayMode, throwOnError: true, strict: "error" }).replace(
            "<span",
            "<span v-pre",
          ),
      });
    },
  },
  themeConfig: {
    nav: [...bar(), { text: "Studio", link: "/studio/index.html", target: "_self" }],
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    search: { provider: "local", options: { detailedView: true } },
    docFooter: { prev: "Previous", next: "Next" },
    footer: { message: "MIT licence." },
  },
  // The default theme marks the content as main on all pages but the first.
  transformHtml: (code) =>
    code.replace('class="VPContent is-home"', 'role="main" class="VPContent is-home"'),
  buildEnd({ outDir }) {
    copyLinkedFiles(outDir);
  },
});
