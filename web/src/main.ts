import "@fontsource-variable/inter/wght.css";
import { hydrate, mount } from "svelte";
import "./styles.css";
import App from "./App.svelte";
import { keepFocus } from "./lib/focus";
import { begin } from "./lib/session.svelte";

const target = document.getElementById("page")!;
const { dataset } = document.documentElement;
keepFocus();
await begin();
if (dataset.ahead === "no") {
  target.replaceChildren();
  mount(App, { target });
} else hydrate(App, { target });
delete dataset.ahead;
