"""`make screenshots`: every page in both themes, wide and narrow, with real data, into docs/images."""

import os
import re
import sys
from pathlib import Path

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402  # the root comes first

from tests.services import Site, browser_arguments, running_site  # noqa: E402

DUMP = ROOT / "tests" / "data" / "clusters" / "shop-40-nodes.yaml"
SIZES = {"1440": {"width": 1440, "height": 900}, "390": {"width": 390, "height": 844}}


def prepare(page: Page, site: Site) -> dict[str, str]:
    """Make a cluster and two runs, and return what to look at."""
    page.goto(f"{site.url}/clusters/import/")
    page.set_input_files("#files", str(DUMP))
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="40 nodes and 236 pods")).to_be_visible(timeout=60_000)
    receipt = page.url
    page.get_by_role("link", name="What if…").first.click()
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#run-state")).to_have_text("succeeded", timeout=60_000)
    shop = page.url.split("?")[0]
    done = site.manage("run", str(ROOT / "simulations" / "samples" / "busy-shop.yaml"), "--name", "A busy shop", "--wait", "--json")
    run = re.search(r'"run":(\d+)', done.stdout)
    assert run is not None, "the command prints its run"
    busy = f"{site.url}/runs/{run[1]}/"
    return {
        "why-fit": _with_the_smallest_change(page, f"{site.url}/runs/{run[1]}/why/?pod=shop/checkout-3"),
        "landing": f"{site.url}/",
        "runs": f"{site.url}/runs/",
        "import": f"{site.url}/clusters/import/",
        "receipt": receipt,
        "cluster": f"{site.url}/clusters/1/",
        "what-if": f"{site.url}/runs/new/?cluster=1",
        "run-node": busy,
        "run-pod": f"{busy}?mode=pod",
        "run-why": f"{busy}?mode=pod&why=shop/checkout-1&sel=shop/checkout-1",
        "run-table": f"{busy}?mode=table",
        "shop": shop,
    }


def _with_the_smallest_change(page: Page, address: str) -> str:
    """Ask what would have let the pod of a panel fit at its first attempt, and return the address of the panel as of that attempt."""
    page.goto(address)
    page.get_by_role("heading", name="All attempts").locator("xpath=..").get_by_role("link").first.click()
    page.get_by_role("button", name="Find it").click()
    expect(page.locator(".fit-card").first).to_be_visible(timeout=60_000)
    return page.url


def picture(browser: Browser, pages: dict[str, str], theme: str, width: str) -> None:
    """Take all pages in one theme and width."""
    context = browser.new_context(viewport=SIZES[width], color_scheme=theme)  # type: ignore[arg-type]  # one of the two words
    page = context.new_page()
    for name, url in pages.items():
        page.goto(url)
        if "/runs/" in url and "new" not in url and name not in ("runs", "why-fit"):
            expect(page.get_by_text("pods shown")).to_be_visible(timeout=30_000)
        page.wait_for_timeout(900)
        target = ROOT / "docs" / "images" / f"{name}-{theme}-{width}.png"
        page.screenshot(path=str(target), full_page=width == "390" or name == "why-fit")
        print(target.relative_to(ROOT))
    context.close()


def main() -> None:
    """Start a site, fill it, and take the pictures."""
    (ROOT / "docs" / "images").mkdir(parents=True, exist_ok=True)
    with running_site() as site, sync_playwright() as play:
        browser = play.chromium.launch(**browser_arguments())
        page = browser.new_page()
        pages = prepare(page, site)
        page.close()
        for theme in ("light", "dark"):
            for width in SIZES:
                picture(browser, pages, theme, width)
        browser.close()


if __name__ == "__main__":
    main()
