/** VitePress's own look, with the fonts of the reader's system. */
import "katex/dist/katex.min.css";
import DefaultTheme from "vitepress/theme-without-fonts";
import "./style.css";

export default DefaultTheme;
