/**
 * Light or dark: the system's setting, unless the reader chooses; the choice is kept in this
 * browser.
 */

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const NAME = "diffeo-theme";

/** The stored choice. Some browsers refuse storage to pages. */
function storedTheme(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem(NAME)) ?? "system";
  } catch {
    return "system";
  }
}

const state = $state<{ theme: Theme }>({ theme: storedTheme() });
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
    // Without storage the choice lasts for this visit.
  }
}
