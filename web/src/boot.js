// Runs before anything is drawn, so that nothing is drawn that would change at once: the theme that was chosen,
// and whether the first view, which comes with the page, is the one that was asked for. If so it is drawn before
// the page's script is run, which else would come first whenever the browser has it at hand.
const { main } = document.currentScript.dataset;
const { dataset } = document.documentElement;
let isAhead = false;
try {
  const theme = localStorage.getItem("theme");
  if (theme) dataset.theme = theme;
  isAhead = /^#?\/?(search)?$/.test(location.hash) && Boolean(localStorage.getItem("was_inside")) && !localStorage.getItem("space");
} catch {
  // A browser that keeps nothing has nothing to tell.
}
const run = () => void import(main);
const start = () => (document.readyState === "loading" ? addEventListener("DOMContentLoaded", run) : run());
if (isAhead && !document.hidden) {
  requestAnimationFrame(() => setTimeout(start));
  setTimeout(start, 500); // a window that is covered draws no frames
} else start();
if (!isAhead) dataset.ahead = "no";
