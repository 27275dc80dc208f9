// Sets the theme before the first paint.
(function () {
  const stored = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
  document.documentElement.dataset.theme = stored === "light" || stored === "dark" ? stored : "system";
})();
