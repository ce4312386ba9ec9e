import { mount } from "svelte";
import "../styles.css";
import "./app.css";
import { connect } from "./host.svelte";
import View from "./View.svelte";

mount(View, { target: document.getElementById("view")! });
await connect();
