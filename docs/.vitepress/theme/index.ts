/** VitePress's own look with the fonts of the reader's system, and code blocks that run. */
import "katex/dist/katex.min.css";
import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import Live from "./Live.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => {
    app.component("Live", Live);
  },
} satisfies Theme;
