"""Production: nobody in without an account, nobody into what is another's, and a link lets one look at one run."""

import json
import re

import pytest
import websockets

from tests.person import PASSWORD, Browser, create_accounts
from tests.services import manage, wait_until
from tests.topology import production


@pytest.fixture(scope="module")
def site():
    with production() as topology:
        manage("collectstatic", "--noinput", env=topology.env)
        create_accounts(topology, "ann", "bob", "eve")
        topology.address = f"http://127.0.0.1:{topology.ports[0]}"
        yield topology


@pytest.fixture(scope="module")
def ann(site):
    browser = Browser(site.address)
    assert browser.sign_in("ann") == 302
    return browser


@pytest.fixture(scope="module")
def bob(site):
    browser = Browser(site.address)
    assert browser.sign_in("bob") == 302
    return browser


@pytest.fixture(scope="module")
def run(site, ann):
    """A finished run of Ann's."""
    ann.get("/")
    assert ann.post("/samples/race-higher-takes/start") == 302
    number = int(re.search(r"/runs/(\d+)/", ann.target).group(1))
    wait_until(lambda: site.ask("SELECT seq FROM simulations_run WHERE id = %s", number)[0][0] > 0)
    return number


OPEN = ("/healthz", "/accounts/login/", "/accounts/signup/", "/accounts/password/forgotten/")
LOOKED_AT = (
    "/runs/{}/",
    "/runs/{}/header",
    "/runs/{}/spans.json",
    "/runs/{}/why/?pod=default/slow-1",
    "/runs/{}/fit/?pod=default/slow-1&seq=1",
    "/runs/{}/export/pods.csv",
    "/runs/{}/export/metrics.prom",
    "/runs/{}/overview.json",
)
CLUSTERS = ("clusters/<int:cluster_id>/", "clusters/<int:cluster_id>/overview.json", "clusters/import/<int:job_id>/")
OWN = ("/runs/{}/share/", "/runs/new/?run={}")
CHANGING = (
    "/runs/{}/cancel",
    "/runs/{}/fit/",
    "/runs/{}/share/",
    "/runs/{}/share/1/revoke",
    "/runs/new/?run={}",
    "/runs/new/preview?run={}",
)


@pytest.mark.parametrize(
    "path", ["/", "/runs/", "/runs/new/", "/clusters/import/", "/clusters/1/", "/clusters/import/1/", "/runs/1/"]
)
def test_a_stranger_is_asked_to_sign_in(site, path):
    stranger = Browser(site.address)
    assert stranger.get(path) == 302
    assert stranger.target.startswith("/accounts/login/?next=")


@pytest.mark.parametrize("path", OPEN)
def test_some_pages_need_nobody(site, path):
    assert Browser(site.address).get(path) == 200


def test_nobody_can_make_an_account_where_sign_up_is_closed(site):
    stranger = Browser(site.address)
    stranger.get("/accounts/signup/")
    assert "made by the operator" in stranger.page
    stranger.post("/accounts/signup/", username="mallory", password1=PASSWORD, password2=PASSWORD)
    assert site.ask("SELECT count(*) FROM auth_user WHERE username = 'mallory'")[0][0] == 0


def test_cookies_and_headers_are_strict(ann):
    by_name = {cookie.name: cookie for cookie in ann.cookies}
    assert by_name["sessionid"].secure
    ann.get("/")
    assert "script-src 'self'" in ann.headers["Content-Security-Policy"]
    assert ann.headers["Strict-Transport-Security"]
    assert ann.headers["X-Frame-Options"] == "DENY"


def test_the_owner_sees_a_run_and_everything_about_it(ann, run):
    assert [ann.get(path.format(run)) for path in (*LOOKED_AT, *OWN)] == [200] * (len(LOOKED_AT) + len(OWN))
    ann.get("/runs/")
    assert f"/runs/{run}/" in ann.page


@pytest.mark.parametrize("path", [*LOOKED_AT, *OWN])
def test_to_others_a_run_is_not_there(bob, run, path):
    assert bob.get(path.format(run)) == 404


@pytest.mark.parametrize("path", CHANGING)
def test_others_cannot_change_a_run(site, bob, run, path):
    bob.get("/")
    status = bob.post(path.format(run))
    assert status == 404 or (path.startswith("/runs/new/preview") and "E0622" in bob.page)
    assert not site.ask("SELECT cancel_requested FROM simulations_run WHERE id = %s", run)[0][0]


def test_the_lists_of_others_do_not_name_it(bob, run):
    for path in ("/", "/runs/", "/runs/new/"):
        bob.get(path)
        assert f"/runs/{run}/" not in bob.page
        assert f"run={run}" not in bob.page


def test_every_address_with_a_number_is_covered_here():
    """A view that is added with a run's, a cluster's or an import's number has to be added to these tests."""
    from dashboard.urls import urlpatterns

    numbered = {str(pattern.pattern) for pattern in urlpatterns if "int:" in str(pattern.pattern)}
    asked = {re.sub(r"\?.*", "", path) for path in (*LOOKED_AT, *OWN, *CHANGING)}
    covered = {_pattern_of(path) for path in asked} | set(CLUSTERS)
    assert numbered <= covered


def _pattern_of(path: str) -> str:
    found = path.lstrip("/").replace("{}", "<int:run_id>").replace("share/1/", "share/<int:link_id>/")
    return found.replace("pods.csv", "<slug:table>.csv")


def test_an_import_and_its_cluster_are_the_importers_own(site, ann, bob):
    ann.get("/clusters/import/")
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
    assert ann.post("/clusters/import/", paste=node) == 302
    job = ann.target
    number = int(re.search(r"(\d+)/$", job).group(1))
    wait_until(lambda: site.ask("SELECT state FROM simulations_importjob WHERE id = %s", number)[0][0] == "succeeded")
    cluster = site.ask("SELECT cluster_id FROM simulations_importjob WHERE id = %s", number)[0][0]
    addresses = [job, f"/clusters/{cluster}/", f"/clusters/{cluster}/overview.json", f"/runs/new/?cluster={cluster}"]
    assert [ann.get(path) for path in addresses] == [200] * len(addresses)
    assert [bob.get(path) for path in addresses] == [404] * len(addresses)


def shared(ann, run) -> str:
    """The path of a new link."""
    ann.get(f"/runs/{run}/share/")
    assert ann.post(f"/runs/{run}/share/") == 200
    return re.search(r'value="https?://[^/]+(/shared/[^"]+)"', ann.page).group(1)


def test_a_link_lets_a_stranger_look_until_it_is_revoked(site, ann, run):
    link = shared(ann, run)
    stranger = Browser(site.address)
    assert stranger.get(link + "?mode=pod") == 302
    assert stranger.target == f"/runs/{run}/?mode=pod"
    assert [stranger.get(path.format(run)) for path in LOOKED_AT] == [200] * len(LOOKED_AT)
    assert "What if" not in re.sub(r"<nav.*?</nav>", "", stranger.page, flags=re.S)
    assert {stranger.get(path.format(run)) for path in OWN} == {302}
    assert {stranger.post(path.format(run)) for path in CHANGING} == {302}
    number = site.ask("SELECT id FROM simulations_sharelink WHERE run_id = %s ORDER BY id DESC", run)[0][0]
    ann.post(f"/runs/{run}/share/{number}/revoke")
    assert {stranger.get(path.format(run)) for path in LOOKED_AT} == {302}
    assert stranger.get(link) == 404


def test_only_the_digest_of_a_link_is_stored(site, ann, run):
    secret = shared(ann, run).split("/")[2]
    stored = site.ask("SELECT digest FROM simulations_sharelink WHERE run_id = %s", run)
    assert all(secret not in digest for (digest,) in stored)
    assert Browser(site.address).get("/shared/nonsense/") == 404


async def first_message(site, run: int, browser: Browser) -> dict | int:
    address = f"ws://127.0.0.1:{site.ports[0]}/ws/runs/{run}/?after=0"
    headers = {"Cookie": browser.cookie_header()}
    async with websockets.connect(address, origin="https://127.0.0.1", additional_headers=headers, max_size=None) as socket:
        try:
            return json.loads(await socket.recv())
        except websockets.ConnectionClosed as closed:
            return closed.rcvd.code


async def test_a_socket_is_for_the_owner_and_for_who_has_a_link(site, ann, bob, run):
    stranger = Browser(site.address)
    assert (await first_message(site, run, ann))["run"] == run
    assert await first_message(site, run, bob) == 4404
    assert await first_message(site, run, stranger) == 4404
    stranger.get(shared(ann, run))
    assert (await first_message(site, run, stranger))["run"] == run


def test_the_form_of_another_does_not_give_their_run(site, ann, bob):
    ann.get("/")
    token = re.search(r'name="token" value="([^"]+)"', ann.page).group(1)
    assert ann.post("/samples/busy-shop/start", token=token) == 302
    first = ann.target
    assert (ann.post("/samples/busy-shop/start", token=token), ann.target) == (302, first), "two tabs make one run"
    bob.get("/")
    assert bob.post("/samples/busy-shop/start", token=token) in (400, 404)
    assert "E0651" in bob.page


def test_wrong_passwords_lock_a_name_for_that_address_and_for_no_other(site):
    thief = Browser(site.address, client="10.9.9.9")
    statuses = [thief.sign_in("eve", "wrong") for _ in range(6)]
    assert 429 in statuses
    assert thief.sign_in("eve") == 429
    assert Browser(site.address, client="10.1.1.1").sign_in("eve") == 302
    assert Browser(site.address, client="10.9.9.9").sign_in("bob") == 302


def test_after_signing_out_nothing_is_seen(site, run):
    again = Browser(site.address)
    again.sign_in("ann")
    assert again.get(f"/runs/{run}/") == 200
    assert again.post("/accounts/logout/") == 302
    assert again.get(f"/runs/{run}/") == 302
