"""What a person does on the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.surfaces.rest.serving import Running

AXE = Path(__file__).parents[2] / ".tools" / "node" / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")


@dataclass
class Visitor:
    page: Page
    server: Running
    complaints: list[str] = field(default_factory=list)

    def go(self, view: str) -> None:
        self.page.goto(f"{self.server.url}/#/{view}")

    def button(self, name: str, *, exact: bool = False) -> Locator:
        return self.page.get_by_role("button", name=name, exact=exact)

    def sees(self, text: str) -> None:
        # Closed sections of the page may hold the same text.
        expect(self.page.get_by_text(text).filter(visible=True).first).to_be_visible()

    def sees_not(self, text: str) -> None:
        expect(self.page.get_by_text(text)).to_have_count(0)

    def search(self, words: str) -> None:
        self.page.get_by_label("Search this memory").fill(words)

    @property
    def results(self) -> Locator:
        return self.page.get_by_role("list", name="Results").locator("> li")

    def serious_faults(self) -> list[str]:
        """What axe-core finds that shuts somebody out, by rule and place."""
        if not self.page.evaluate("Boolean(window.axe)"):
            self.page.evaluate(AXE.read_text("utf-8"))
        found: dict[str, Any] = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{one['id']}: {node['target']} {node['failureSummary'][:160]}"
            for one in found["violations"]
            if one["impact"] in SERIOUS
            for node in one["nodes"][:3]
        ]
