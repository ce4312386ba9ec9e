// Runs before anything is drawn, so that nothing is drawn that would change at once: the theme that was chosen,
// and whether the first view, which comes with the page, is the one that was asked for.
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
  const isFirst = /^#?\/?(search)?$/.test(location.hash);
  if (!isFirst || !localStorage.getItem("was_inside") || localStorage.getItem("space")) document.documentElement.dataset.ahead = "no";
} catch {
  document.documentElement.dataset.ahead = "no";
}
