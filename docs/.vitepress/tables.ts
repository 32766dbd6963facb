/**
 * Gives every column of a table a header for screen readers: where a Markdown table leaves a header
 * empty, it gets a text that is not shown.
 */
import type { MarkdownRenderer } from "vitepress";

export function nameColumns(md: MarkdownRenderer): void {
  md.core.ruler.push("name-columns", ({ tokens, Token }) => {
    let column = 0;
    tokens.forEach((token, i) => {
      if (token.type === "tr_open") column = 0;
      if (token.type !== "th_open") return;
      column++;
      const { children, content } = tokens[i + 1];
      if (content.trim() !== "" || children === null) return;
      const hidden = new Token("html_inline", "", 0);
      hidden.content = `<span class="visually-hidden">Column ${column}</span>`;
      children.push(hidden);
    });
  });
}
