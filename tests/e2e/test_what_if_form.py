"""The what-if form and its YAML: each fills the other, and what differs is always in sight."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.services import ROOT

SHOP = ROOT / "tests" / "data" / "clusters" / "shop-40-nodes.yaml"


@pytest.fixture(scope="module")
def address(site):
    """The form over the imported shop."""
    done = site.manage("import-cluster", "--json", str(SHOP))
    number = re.search(r'"cluster":\s*(\d+)', done.stdout).group(1)
    return f"{site.url}/runs/new/?cluster={number}"


def section(page, title):
    return page.locator("details.section", has=page.locator("summary", has_text=re.compile(f"^{title}$")))


def preview(page):
    return page.get_by_role("complementary", name="Against the base")


def opened(page, title):
    found = section(page, title)
    if found.get_attribute("open") is None:
        found.locator("summary").click()
    return found


def test_what_is_chosen_in_the_form_is_written_as_yaml(page, address):
    page.goto(address)
    opened(page, "Change a workload").get_by_label("Workload").select_option("Deployment/shop/cart")
    section(page, "Change a workload").get_by_label("Replicas").fill("20")
    expect(preview(page)).to_contain_text("20 replicas at 5s")
    expect(preview(page)).to_contain_text("Estimate")
    opened(page, "As YAML")
    expect(page.get_by_label("Changes as YAML")).to_have_value(re.compile("workload: Deployment/shop/cart"))


def test_what_is_written_as_yaml_fills_the_form_and_the_rest_is_counted(page, address):
    page.goto(address)
    opened(page, "As YAML")
    text = "nodes:\n- {node: general-1a-1, action: cordon}\n- {node: general-1b-1, action: fail, at: 9s}\nseed: 12\n"
    names = page.locator("#id_node option").evaluate_all("options => options.slice(1, 3).map((option) => option.value)")
    page.get_by_label("Changes as YAML").fill(text.replace("general-1a-1", names[0]).replace("general-1b-1", names[1]))
    expect(preview(page)).to_contain_text("its kubelet falls silent at 9s")
    expect(preview(page)).to_contain_text("1 of these only in the YAML")
    expect(page.locator("#id_node")).to_have_value(names[0])
    expect(page.get_by_label("Seed")).to_have_value("12")
    expect(section(page, "Add pods").get_by_label("Add pods", exact=True)).not_to_be_checked()
    page.get_by_label("Seed").fill("13")
    expect(page.get_by_label("Changes as YAML")).to_have_value(re.compile(r"seed: 13"))
    expect(page.get_by_label("Changes as YAML")).to_have_value(re.compile(r"action: fail"))
    page.get_by_role("button", name="Start").click()
    expect(page).to_have_url(re.compile(r"/runs/\d+/"))
    expect(page.locator("#run-state")).to_have_text("succeeded", timeout=60_000)


def test_wrong_yaml_says_its_line_and_the_form_stays(page, address):
    page.goto(address)
    opened(page, "As YAML")
    page.get_by_label("Changes as YAML").fill("seed: 1\ncolour: red\n")
    expect(preview(page)).to_contain_text("E0702 line 2 colour")


def test_a_draft_outlives_a_reload(page, address):
    page.goto(address)
    page.get_by_label("Seed").fill("77")
    expect(preview(page)).to_contain_text("77")
    page.reload()
    expect(page.get_by_label("Seed")).to_have_value("77")


def test_a_link_fills_fields_in(page, address):
    page.goto(f"{address}&cpu=7&seed=5")
    expect(page.get_by_label("Seed")).to_have_value("5")
    expect(section(page, "Add pods").get_by_label("CPU request", exact=True)).to_have_value("7")


def test_a_link_that_asks_for_something_else_adds_no_pods(page, address):
    page.goto(f"{address}&seed=5")
    expect(page.locator("#id_add_pods")).not_to_be_checked()
    expect(section(page, "Change a node").locator("summary")).to_have_attribute("data-changed", "")
    expect(page.locator(".field.changed", has=page.get_by_label("Seed"))).to_have_count(1)
    expect(preview(page)).not_to_contain_text("pods more")


def test_refused_calls_are_a_part_of_the_form_and_its_closed_parts_say_what_they_hold(page, address):
    page.goto(address)
    faults = opened(page, "Faults of the API server")
    faults.get_by_label("Calls that are refused").select_option("delete pods")
    faults.get_by_label("Answer").fill("422")
    faults.get_by_label("Of these objects").fill("cart-1, cart-2")
    expect(preview(page)).to_contain_text("delete pods")
    opened(page, "As YAML")
    expect(page.get_by_label("Changes as YAML")).to_have_value(re.compile("match: delete pods"))
    faults.locator("summary").click()
    expect(faults.locator("summary")).to_have_attribute("data-changed", "3 changed")
    page.get_by_label("Changes as YAML").fill("faults:\n- {match: create events, code: 429}\n")
    expect(page.locator("#id_fault")).to_have_value("create events")
    expect(page.locator("#id_fault_code")).to_have_value("429")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_form_has_no_accessibility_faults_with_every_part_open(page, address, theme):
    page.emulate_media(color_scheme=theme)
    page.goto(address)
    for title in (
        "Add nodes",
        "Change a node",
        "Change a workload",
        "Scheduler",
        "API server and kubelets",
        "Faults of the API server",
        "As YAML",
    ):
        opened(page, title)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
