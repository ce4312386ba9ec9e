/** Light or dark: as the system has it, until somebody chooses. */

const system = matchMedia("(prefers-color-scheme: dark)");

class Theme {
  #chosen = $state(remembered());
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

  /** As the program has it that shows this. */
  follow(host: "light" | "dark"): void {
    this.#chosen = host;
    this.#show();
  }

  #show(): void {
    if (this.#chosen) document.documentElement.dataset.theme = this.#chosen;
  }
}

/** A document in a sandbox may not keep anything. */
function remembered(): string {
  try {
    return localStorage.getItem("theme") ?? "";
  } catch {
    return "";
  }
}

export const theme = new Theme();
