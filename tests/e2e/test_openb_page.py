"""The openb page in a browser: choose, run, watch it end; nothing on it is out of reach."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect


def test_a_part_of_the_trace_is_chosen_run_and_watched_to_its_end(page, site):
    page.goto(f"{site.url}/")
    page.get_by_role("link", name="Choose how much of it").first.click()
    expect(page.get_by_role("heading", name="The openb trace")).to_be_visible()
    page.get_by_label("Only nodes with cards").check()
    page.get_by_role("spinbutton", name="Pods").fill("200")
    page.get_by_role("button", name="Run the trace").click()
    expect(page.get_by_role("heading", name="openb fill, 1,213 nodes, 200 pods")).to_be_visible()
    expect(page.locator("#run-state")).to_have_text("succeeded", timeout=60_000)


def test_the_page_has_no_accessibility_violation_in_either_theme_and_fits_a_phone(page, site):
    page.set_viewport_size({"width": 390, "height": 844})
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.goto(f"{site.url}/openb/")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
