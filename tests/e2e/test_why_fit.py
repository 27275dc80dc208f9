"""The why panel asks what would have let a pod fit, and opens the what-if form with the answer, whose run places the pod."""

import json

import pytest
from playwright.sync_api import expect

from tests.builders import make_node, make_pod


@pytest.fixture
def stuck(site, tmp_path):
    """A run in which a pod that asks for too much stays pending; its address."""
    wanted = make_pod("wanted").request(cpu="9").manifest()
    del wanted["metadata"]["uid"]
    document = {
        "apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "stuck"},
        "spec": {
            "duration": "20s", "initial": [make_node("n1").manifest()],
            "operations": [{"at": "1s", "createOperation": {"object": wanted}}],
        },
    }  # fmt: skip
    path = tmp_path / "stuck.yaml"
    path.write_text(json.dumps(document), encoding="utf-8")
    made = json.loads(site.manage("run", str(path), "--wait", "--json").stdout.splitlines()[-1])
    return f"{site.url}/runs/{made['run']}/"


def test_the_smallest_change_is_found_tried_out_and_opens_the_form(page, stuck):
    page.goto(f"{stuck}?why=default/wanted")
    panel = page.get_by_role("complementary", name="Why")
    panel.get_by_role("button", name="Find it").click()
    best = panel.locator(".fit-card").first
    expect(best).to_contain_text("Request cpu 4 instead of 9", timeout=30_000)
    expect(best).to_contain_text("Tried: bound to n1")
    best.get_by_role("link", name="Try this").click()
    expect(page.locator("ins", has_text="spec.containers[0].resources.requests.cpu 4")).to_be_visible()
    expect(page.get_by_label("Add pods")).not_to_be_checked()
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#run-state")).to_have_text("succeeded", timeout=30_000)
    page.goto(f"{page.url.split('?')[0]}why/?pod=default/wanted")
    expect(page.get_by_text("Runs on n1")).to_be_visible()


def test_the_answer_stays_for_whoever_looks_next(page, stuck):
    page.goto(f"{stuck}why/?pod=default/wanted")
    page.get_by_role("button", name="Find it").click()
    expect(page.locator(".fit-card").first).to_be_visible(timeout=30_000)
    page.reload()
    expect(page.locator(".fit-card").first).to_contain_text("Request cpu 4 instead of 9")
    expect(page.get_by_role("button", name="Find it")).to_have_count(0)
