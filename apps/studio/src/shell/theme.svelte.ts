/**
 * Light or dark: as the reader's system says, until the reader says otherwise. Kept in this
 * browser.
 */

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const NAME = "diffeo-theme";

/** Some browsers refuse storage to pages. */
function stored(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem(NAME)) ?? "system";
  } catch {
    return "system";
  }
}

const state = $state<{ theme: Theme }>({ theme: stored() });
const show = (): void => {
  document.documentElement.dataset.theme = state.theme;
};
show();

export const theme = (): Theme => state.theme;

export function setTheme(chosen: Theme): void {
  state.theme = chosen;
  show();
  try {
    localStorage.setItem(NAME, chosen);
  } catch {
    // It holds for this visit.
  }
}
