"""The cluster overview: the same instant as the timeline, by mouse, by keyboard and as a table."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.services import ROOT

SHOP = ROOT / "tests" / "data" / "clusters" / "shop-40-nodes.yaml"


@pytest.fixture(scope="module")
def run(site):
    """A finished run with preemptions, a cordon and nodes that come later."""
    done = site.manage("run", str(ROOT / "simulations" / "samples" / "busy-shop.yaml"), "--wait", "--json")
    return int(re.search(r'"run":\s*(\d+)', done.stdout).group(1))


@pytest.fixture(scope="module")
def cluster(site):
    """The imported shop."""
    return int(re.search(r'"cluster":\s*(\d+)', site.manage("import-cluster", "--json", str(SHOP)).stdout).group(1))


def overview(page):
    return page.get_by_role("region", name="Cluster overview")


def test_the_overview_follows_the_cursor_and_the_cursor_follows_its_slider(page, site, run):
    page.goto(f"{site.url}/runs/{run}/?t=1000000000")
    page.get_by_role("button", name="Cluster", exact=True).click()
    expect(overview(page)).to_contain_text("12 nodes")
    slider = overview(page).get_by_role("slider", name="Time")
    slider.focus()
    page.keyboard.press("End")
    expect(overview(page)).to_contain_text("14 nodes")
    expect(page).to_have_url(re.compile(r"mode=cluster.*t="))
    page.get_by_role("button", name="By node").click()
    expect(page.locator("#canvas")).to_be_visible()


def test_a_copied_link_shows_the_same_view(page, site, run):
    page.goto(f"{site.url}/runs/{run}/?mode=cluster&fill=memory&t=20000000000")
    expect(overview(page).get_by_label("Fill by")).to_have_value("memory")
    expect(overview(page)).to_contain_text("1 cordoned")


def test_by_keyboard_to_a_node_and_on_to_why(page, site, run):
    page.goto(f"{site.url}/runs/{run}/?mode=cluster&t=12000000000")
    expect(overview(page)).to_contain_text("12 nodes")
    overview(page).get_by_role("application").focus()
    page.keyboard.press("ArrowRight")
    expect(overview(page).get_by_role("heading", name=re.compile("^node-"))).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Why").get_by_role("heading").first).to_be_visible()


def test_the_table_says_the_same(page, site, run):
    page.goto(f"{site.url}/runs/{run}/?mode=cluster&t=20000000000")
    overview(page).get_by_role("button", name="As a table").click()
    table = overview(page).get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(13)
    expect(table).to_contain_text("cordoned")


def test_an_imported_cluster_has_one_too(page, site, cluster):
    page.goto(f"{site.url}/clusters/{cluster}/")
    expect(overview(page)).to_contain_text("40 nodes")
    expect(overview(page)).to_contain_text("Unscheduled (30)")
    overview(page).get_by_label("Group by").select_option("label:pool")
    expect(overview(page)).to_contain_text("84 %")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_overview_has_no_accessibility_faults(page, site, run, cluster, theme):
    page.emulate_media(color_scheme=theme)
    for path in (f"/runs/{run}/?mode=cluster", f"/clusters/{cluster}/"):
        page.goto(site.url + path)
        expect(overview(page)).to_contain_text("unscheduled")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def test_it_fits_a_narrow_window(page, site, run, cluster):
    page.set_viewport_size({"width": 390, "height": 844})
    for path in (f"/runs/{run}/?mode=cluster", f"/clusters/{cluster}/"):
        page.goto(site.url + path)
        expect(overview(page)).to_contain_text("unscheduled")
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
