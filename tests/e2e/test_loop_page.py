"""The scheduling loop of a run beside that of its pair: a button makes the other run, then both stand in one table."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect


def start(page, site, title):
    page.goto(site.url)
    page.get_by_role("button", name=f"Run the sample: {title}").click()
    expect(page.locator("#run-state")).to_have_text("succeeded", timeout=90_000)


def cells(page, row):
    return page.get_by_role("row", name=re.compile(f"^{re.escape(row)}")).get_by_role("cell")


@pytest.fixture(scope="module")
def opened(site, browser):
    """Both runs of the pair, the second one made by the button on the first one's page; the address of the second."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    start(page, site, "Asynchronous preemption")
    page.get_by_text("Scheduling loop: waited").click()
    expect(cells(page, "Loop waited")).to_have_count(1)
    page.get_by_role("button", name="Run Synchronous preemption beside it").click()
    expect(page.locator("#run-state")).to_have_text("succeeded", timeout=90_000)
    address = page.url
    context.close()
    return address


def test_both_loops_stand_side_by_side(page, opened):
    page.goto(opened)
    page.get_by_text("Scheduling loop: waited").click()
    expect(page.get_by_role("columnheader", name=re.compile("Asynchronous preemption"))).to_be_visible()
    waited = cells(page, "Loop waited")
    expect(waited).to_have_text(["1.32 s", "480 ms"])
    expect(cells(page, "A preemption held the loop")).to_have_text(["210 ms / 210 ms", "200 µs / 200 µs"])
    expect(page.get_by_role("button", name=re.compile("beside it"))).to_have_count(0)
    page.get_by_role("link", name=re.compile("Asynchronous preemption #")).click()
    page.get_by_text("Scheduling loop: waited").click()
    expect(cells(page, "Loop waited")).to_have_text(["480 ms", "1.32 s"])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_the_table_is_accessible_and_fits(page, opened, theme, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)
    page.goto(opened)
    page.get_by_text("Scheduling loop: waited").click()
    expect(cells(page, "Loop waited")).to_have_count(2)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_a_run_without_preemptions_has_no_such_line(page, site):
    start(page, site, "Backoff grows")
    expect(page.get_by_text("Scheduling loop: waited")).to_have_count(0)
