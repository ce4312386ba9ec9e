import { mount } from "svelte";
import "../styles.css";
import "./app.css";
import { keepFocus } from "../lib/focus";
import { connect } from "./host.svelte";
import View from "./View.svelte";

keepFocus();
mount(View, { target: document.getElementById("view")! });
await connect();
