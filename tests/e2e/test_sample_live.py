"""Someone opens the page for the first time, starts the sample and watches it."""

import re

from playwright.sync_api import expect


def spans(page):
    return page.evaluate("() => window.schedscope.store.spans.size")


def moves_on(page):
    before = spans(page)
    page.wait_for_timeout(1500)
    return spans(page) > before


def test_one_click_shows_a_moving_timeline(page, site):
    page.goto(site.url)
    page.get_by_role("button", name="Watch a sample").click()
    expect(page).to_have_url(re.compile(r"/runs/\d+/"))
    expect(page.get_by_text("pods shown")).to_be_visible(timeout=60_000)
    expect(page.locator("#run-state")).to_have_text("running")
    assert any(moves_on(page) for _try in range(6))
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#run-state")).to_have_text("cancelled", timeout=10_000)


def test_a_reload_in_mid_run_loses_nothing(page, site):
    page.goto(site.url)
    page.get_by_role("button", name="Run the sample: Somebody else takes the room").click()
    expect(page.get_by_text("pods shown")).to_be_visible(timeout=30_000)
    page.reload()
    expect(page.locator("#run-state")).to_have_text("succeeded", timeout=90_000)
    page.wait_for_timeout(500)
    shown = page.evaluate("() => [...window.schedscope.store.spans.values()].map((s) => [s.id, s.kind, s.start, s.end])")
    run = re.search(r"/runs/(\d+)/", page.url).group(1)
    import json

    stored = json.loads(site.get(f"/runs/{run}/spans.json?after=0"))
    assert sorted(shown) == sorted([s[0], s[1], s[5], s[6]] for s in stored["spans"])
    assert [s[0] for s in sorted(stored["spans"])] == list(range(1, len(stored["spans"]) + 1))
