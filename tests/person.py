"""People of the tests: accounts of a production site, and what their browsers do."""

import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar

PASSWORD = "a-long-word-of-the-tests"


def create_accounts(topology, *names: str) -> None:
    """Make these users; their numbers count from 1 on a database that has none."""
    code = "from django.contrib.auth.models import User; [User.objects.create_user(name, password=%r) for name in %r]"
    topology.manage("shell", "-v", "0", "-c", code % (PASSWORD, names))


class Browser:
    """Cookies, forms and redirects of one person; comes through a proxy that ended TLS."""

    def __init__(self, address: str, client: str = "10.0.0.1") -> None:
        self.address, self.client = address, client
        self.cookies = CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies), _Stay)
        self.page = ""

    def get(self, path: str, **headers: str) -> int:
        return self._open(urllib.request.Request(self._url(path), headers=headers))

    def post(self, path: str, **fields: str) -> int:
        cookie = next((c.value for c in self.cookies if c.name == "csrftoken"), "")
        body = urllib.parse.urlencode({"csrfmiddlewaretoken": cookie, **fields}).encode()
        return self._open(urllib.request.Request(self._url(path), body, {"Referer": self._url(path).replace("http:", "https:")}))

    def _url(self, path: str) -> str:
        return path if path.startswith("http") else self.address + path

    def _open(self, request: urllib.request.Request) -> int:
        request.add_header("X-Forwarded-Proto", "https")
        request.add_header("X-Forwarded-For", self.client)
        request.add_header("Cookie", self.cookie_header())
        try:
            answer = self.opener.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        self.page, self.headers = answer.read().decode(), answer.headers
        self.cookies.extract_cookies(answer, urllib.request.Request(self.address.replace("http:", "https:")))
        return answer.status

    def cookie_header(self) -> str:
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.cookies)

    def sign_in(self, name: str, password: str = PASSWORD) -> int:
        self.get("/accounts/login/")
        return self.post("/accounts/login/", login=name, password=password)

    @property
    def target(self) -> str:
        """Where a redirect leads."""
        return self.headers["Location"]


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: object) -> None:
        return None
