"""Who is answered on the port that Prometheus scrapes."""

import pytest
from starlette.routing import Route

from cuesta.publish.metrics import Metrics
from cuesta.publish.prometheus import MetricsApp
from cuesta.publish.prometheus_outlet import NotForScripts
from tests.site.served import served


@pytest.mark.parametrize(("mode", "status"), [(None, 200), ("navigate", 200), ("cors", 403), ("no-cors", 403)])
def test_scripts_of_pages_are_refused(mode: str | None, status: int) -> None:
    with served([Route("/metrics", NotForScripts(MetricsApp(Metrics())))]) as site:
        headers = {"Sec_Fetch_Mode": mode} if mode else {}
        assert site.enter().ask("/metrics", "GET", None, **headers).status == status
