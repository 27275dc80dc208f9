"""Every page: accessible in both themes, narrow without overflow, and honest about what is not there."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

PAGES = ["/", "/runs/", "/clusters/import/", "/runs/new/", "/runs/new/?sample=busy-shop", "/runs/999999/"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_no_accessibility_faults(page, site, path, theme):
    page.emulate_media(color_scheme=theme)
    page.goto(site.url + path)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_timeline_with_its_why_panel_has_no_accessibility_faults(page, site, theme):
    page.emulate_media(color_scheme=theme)
    page.goto(site.url)
    page.get_by_role("button", name="Run the sample: Somebody else takes the room").click()
    expect(page.locator("#run-state")).to_have_text("succeeded", timeout=90_000)
    page.get_by_role("button", name="By pod").click()
    page.locator("#canvas").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Why").get_by_role("heading").first).to_be_visible()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_axe_finds_a_planted_fault(page, site):
    page.goto(site.url)
    page.evaluate(
        "() => { const image = document.createElement('img'); image.src = '/static/icons/mark.svg'; document.body.append(image); }"
    )
    assert Axe().run(page).violations_count > 0


@pytest.mark.parametrize("path", PAGES)
def test_a_narrow_page_does_not_overflow(page, site, path):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(site.url + path)
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_help_lists_the_keys(page, site):
    page.goto(site.url)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog").get_by_text("Zoom in")).to_be_visible()


def test_the_timeline_with_its_why_panel_fits_a_narrow_window(page, site):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(site.url)
    page.get_by_role("button", name="Run the sample: Somebody else takes the room").click()
    expect(page.locator("#run-state")).to_have_text("succeeded", timeout=90_000)
    page.goto(page.url.split("?")[0] + "?mode=pod&why=default/normal-1&sel=default/normal-1")
    expect(page.get_by_role("complementary", name="Why").get_by_role("heading", name="Filter")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
