"""From a cluster dump to the victims of twenty urgent pods, their reasons, and the CSV."""

import csv
import io
import re
from pathlib import Path

from playwright.sync_api import expect

DUMP = Path(__file__).resolve().parent.parent / "data" / "clusters" / "shop-40-nodes.yaml"


def test_twenty_urgent_pods_show_victims_and_take_the_csv_along(page, site):
    page.goto(f"{site.url}/clusters/import/")
    page.set_input_files("#files", str(DUMP))
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="40 nodes and 236 pods, 30 of them pending")).to_be_visible(timeout=30_000)
    page.get_by_role("link", name="What if…").first.click()
    page.get_by_label("How many", exact=True).fill("20")
    page.get_by_label("CPU request", exact=True).fill("3")
    expect(page.get_by_text("20 more in default")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#run-state")).to_have_text("succeeded", timeout=60_000)
    kinds = page.evaluate("() => [...window.schedscope.store.spans.values()].map((s) => s.kind + ' ' + s.reason)")
    assert sum(k.startswith("nominated") for k in kinds) == 20
    victims = sum(k == "terminating victim" for k in kinds)
    assert victims > 0
    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="preemptions").click()
    download = waiting.value
    assert re.fullmatch(r".*-preemptions-\d{8}T\d{6}Z\.csv", download.suggested_filename)
    rows = list(csv.DictReader(io.StringIO(Path(download.path()).read_text(encoding="utf-8"))))
    assert len(rows) == victims
    assert all(row["preemptor_name"].startswith("urgent-") and row["victim_name"] and row["node"] for row in rows)


def test_a_pod_tells_why(page, site):
    page.goto(site.url)
    page.get_by_role("button", name="Run the sample: Asynchronous preemption").click()
    expect(page.locator("#run-state")).to_have_text("succeeded", timeout=90_000)
    page.get_by_role("button", name="By pod").click()
    page.locator("#canvas").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="Why")
    expect(panel.locator(".why-sentence")).to_contain_text("Preempted by")
    panel.get_by_role("link").first.click()
    expect(panel.get_by_role("heading", name="Preemption")).to_be_visible()
    expect(panel.get_by_role("heading", name="Filter")).to_be_visible()
    expect(panel.get_by_text("Insufficient cpu").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()


def test_the_table_is_the_timelines_twin(page, site):
    page.goto(site.url)
    page.get_by_role("button", name="Run the sample: Somebody else takes the room").click()
    expect(page.locator("#run-state")).to_have_text("succeeded", timeout=90_000)
    page.get_by_role("button", name="Table").click()
    rows = page.locator("#span-table tbody tr")
    expect(rows.first).to_be_visible()
    everything = rows.count()
    page.get_by_label("Filter", exact=True).fill("slow-1")
    expect(page.get_by_text("1 of 3 pods shown")).to_be_visible()
    assert 0 < rows.count() < everything
    page.get_by_label("Filter", exact=True).fill("nobody")
    expect(rows).to_have_count(0)


def test_wrong_values_come_back_at_their_field(page, site):
    page.goto(f"{site.url}/runs/new/?sample=busy-shop")
    page.get_by_label("CPU request", exact=True).fill("lots")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("E0716").first).to_be_visible()
    page.get_by_label("CPU request", exact=True).fill("3")
    page.get_by_label("Namespace", exact=True).fill("<b>")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("E0715").first).to_be_visible()
