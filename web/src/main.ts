import "@fontsource-variable/inter/wght.css";
import { mount } from "svelte";
import "./styles.css";
import App from "./App.svelte";
import { begin } from "./lib/session.svelte";

await begin();
mount(App, { target: document.getElementById("page")! });
