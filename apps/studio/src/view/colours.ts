/** The colours of the style sheet, light or dark, for drawings on a canvas. */

export interface Colours {
  readonly ink: string;
  readonly faint: string;
  readonly line: string;
  readonly blue: string;
  readonly vermilion: string;
  readonly green: string;
}

export function coloursOf(canvas: HTMLCanvasElement): Colours {
  const style = getComputedStyle(canvas);
  const of = (name: string): string => style.getPropertyValue(`--c-${name}`);
  return {
    ink: of("ink"),
    faint: of("faint"),
    line: of("line"),
    blue: of("blue"),
    vermilion: of("vermilion"),
    green: of("green"),
  };
}

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Calls `again` when the colours change. Returns a function that ends this. */
export function watchColours(again: () => void): () => void {
  dark.addEventListener("change", again);
  const watch = new MutationObserver(again);
  watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => {
    dark.removeEventListener("change", again);
    watch.disconnect();
  };
}
