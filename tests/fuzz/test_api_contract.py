"""Schemathesis over the API's own description: every call answers what it says, and none breaks."""

import pytest
import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

from dashboard.api.routes import api
from dashboard.asgi import http

pytestmark = pytest.mark.django_db(transaction=True)
schema = schemathesis.openapi.from_dict(api.get_openapi_schema(path_prefix="/api/"))
schema.app = http


@schema.parametrize()
def test_a_call_keeps_to_the_description(quiet, case):
    # What the description allows may still name a sample that is not there: that is refused with a code.
    case.call_and_validate(headers={"host": "127.0.0.1"}, excluded_checks=[positive_data_acceptance])
