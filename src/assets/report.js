// The page's own behaviour: the theme and the copy buttons. It asks nothing of the network.
"use strict";
(() => {
  const THEMES = ["auto", "light", "dark"];
  const root = document.documentElement;
  const button = document.querySelector(".theme");

  // A file opened from disk may have no storage; the choice then lasts as long as the page.
  const stored = () => {
    try { return localStorage.getItem("stormglass-theme"); } catch { return null; }
  };
  const store = (theme) => {
    try { localStorage.setItem("stormglass-theme", theme); } catch { /* see above */ }
  };

  const apply = (theme) => {
    if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme;
    button.textContent = "Theme: " + theme;
    document.dispatchEvent(new Event("themechange"));
  };

  let theme = THEMES.includes(stored()) ? stored() : "auto";
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    store(theme);
    apply(theme);
  });
  apply(theme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => apply(theme));

  const copySelected = (element) => {
    getSelection().selectAllChildren(element);
    return document.execCommand("copy");
  };
  const copy = async (element) => {
    try {
      await navigator.clipboard.writeText(element.textContent);
      return true;
    } catch {
      return copySelected(element);
    }
  };
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const done = await copy(document.getElementById(button.dataset.copy));
      button.textContent = done ? "Copied" : "Press Ctrl+C";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  // A link into a folded part opens it.
  const unfold = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const folded = target && target.closest("details");
    if (folded) folded.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
