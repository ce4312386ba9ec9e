/** Light or dark: as the system has it, until somebody chooses. */

const system = matchMedia("(prefers-color-scheme: dark)");

class Theme {
  #chosen = $state(localStorage.getItem("theme") ?? "");
  #system = $state(system.matches);

  constructor() {
    system.addEventListener("change", () => (this.#system = system.matches));
    this.#show();
  }

  get dark(): boolean {
    return this.#chosen ? this.#chosen === "dark" : this.#system;
  }

  toggle(): void {
    this.#chosen = this.dark ? "light" : "dark";
    localStorage.setItem("theme", this.#chosen);
    this.#show();
  }

  #show(): void {
    if (this.#chosen) document.documentElement.dataset.theme = this.#chosen;
  }
}

export const theme = new Theme();
