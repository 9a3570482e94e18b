import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis.certify.record import derive_measurements
from cuesta.figures.catalogue import DURATIONS
from cuesta.figures.limit import COMPARISONS, Limit
from cuesta.figures.reference import FORM, NUMBERS, Reference, selects
from tests.analysis.certify.test_absentee import batch
from tests.certification_runs import trial


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("response.p99 < 2s", ("response", None, "p99", "<", 2.0)),
        ("response.p99.9<=150ms", ("response", None, "p99.9", "<=", 0.15)),
        ("response{log out}.p95 < 1s", ("response", "log out", "p95", "<", 1.0)),
        ("echo.count >= 100", ("echo", None, "count", ">=", 100.0)),
        ("errors.rate < 1%", ("errors.rate", None, None, "<", 0.01)),
        ("errors.count == 0", ("errors.count", None, None, "==", 0.0)),
        ("throughput{logout} > 30/s", ("throughput", "logout", None, ">", 30.0)),
        ("characters.in_per_s > 3", ("characters.in_per_s", None, None, ">", 3.0)),
        ("characters.in_per_s_per_user > 1.5/s", ("characters.in_per_s_per_user", None, None, ">", 1.5)),
        ("host.cpu.idle > 20%", ("host.cpu.idle", None, None, ">", 20.0)),
        ("host.per_transaction.cpu_ms < 500us", ("host.per_transaction.cpu_ms", None, None, "<", 0.5)),
        ("fairness.jain > 95%", ("fairness.jain", None, None, ">", 0.95)),
        ("response.p99 < 500 ms", ("response", None, "p99", "<", 0.5)),
        ("errors.rate < 5 %", ("errors.rate", None, None, "<", 0.05)),
        ("unfinished.oldest < 2s", ("unfinished.oldest", None, None, "<", 2.0)),
        ("host{farm}.cpu.usr < 80%", ("host.cpu.usr", "farm", None, "<", 80.0)),
        ("host.per_transaction.cpu_ms{10.7.0.2} < 2ms", ("host.per_transaction.cpu_ms", "10.7.0.2", None, "<", 2.0)),
        ("demand{farm} < 3ms", ("demand", "farm", None, "<", 3.0)),
    ],
)
def test_a_limit_is_parsed(text: str, parts: tuple[object, ...]) -> None:
    limit = Limit.read(text)
    figure = limit.figure
    assert (figure.metric, figure.transaction, figure.statistic, limit.comparison, limit.value) == parts
    assert str(limit) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("form.creation < 2s", "belongs to a certification's form, and a limit applies to a run"),
        ("respons.p99 < 2s", "did you mean `response.p99`"),
        ("response < 2s", "needs a statistic"),
        ("response.p99x < 2s", "needs a statistic"),
        ("response.p999 < 2s", "did you mean `response.p99.9`"),
        ("echo.median < 2s", "did you mean `echo.p50`"),
        ("response{logout}.avg < 2s", "did you mean `response.mean`"),
        ("errors.rate < 5", "is a share, and `5` is 500%; write 5%, or 0.05"),
        ("errors.rate < 500%", "at most 100%"),
        ("response.p99 < 500 ms more", "METRIC.STATISTIC"),
        ("response.p99 < 2", "no unit"),
        ("response.p99 2s", "METRIC.STATISTIC"),
        ("throughput > lots", "not a number"),
        ("unfinished.oldest < 2", "no unit"),
        ("host.cpu.idel > 20%", "did you mean `host.cpu.idle`"),
        ("errors.rate{logout} < 1%", "measured neither by class of transactions nor by group"),
        ("host{farm}.builtin.cpu < 1", "measured neither by class of transactions nor by group or host"),
        (5, "METRIC.STATISTIC"),
    ],
)
def test_a_bad_limit_is_refused_with_the_reason(text: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Limit.read(text)


GROUPS = {"students": ["log in", "vi"], "clerks": ["vi"]}


@pytest.mark.parametrize("metric", ["echo", "echo_from_sent", "connect", "negotiation", "login", "lateness"])
def test_a_metric_of_keys_and_lines_may_be_of_one_group(metric: str) -> None:
    assert Reference.read(f"{metric}{{students}}.p99").selectable(GROUPS) == ["students", "clerks"]


@pytest.mark.parametrize("metric", ["response.p99", "response_from_sent.max", "first_response.p50", "throughput"])
def test_a_metric_of_transactions_may_be_of_a_class_a_group_or_both(metric: str) -> None:
    name, _, statistic = metric.partition(".")
    figure = Reference.read(f"{name}{{students: vi}}.{statistic}".rstrip("."))
    assert figure.transaction == "students: vi"
    both = ["students: log in", "students: vi", "clerks: vi"]
    assert figure.selectable(GROUPS) == ["log in", "vi", "students", "clerks", *both]


def test_a_metric_of_hosts_may_be_of_one_host() -> None:
    figure = Reference.read("host.cpu{farm}.idle")
    assert figure.selectable(GROUPS, ["bastion", "farm"]) == ["bastion", "farm"]
    assert (figure.host, str(figure)) == ("farm", "host{farm}.cpu.idle")


@pytest.mark.parametrize(
    ("whose", "selected"),
    [
        (None, ["students: vi", "clerks: vi", "clerks: clerks"]),
        ("vi", ["students: vi", "clerks: vi"]),
        ("students", ["students: vi"]),
        ("clerks: vi", ["clerks: vi"]),
        ("clerks", ["clerks: clerks"]),
        ("nobody", []),
    ],
)
def test_a_name_selects_a_class_before_a_group(whose: str | None, selected: list[str]) -> None:
    pairs = [("students", "vi"), ("clerks", "vi"), ("clerks", "clerks")]
    sources = {source for _, source in pairs}
    assert [f"{group}: {source}" for group, source in pairs if selects(whose, group, source, sources)] == selected


@given(st.text(max_size=60))
def test_any_text_is_a_limit_or_a_message(text: str) -> None:
    try:
        limit = Limit.read(text)
    except ValueError:
        return
    assert limit.figure.metric in {*DURATIONS, *NUMBERS}
    assert limit.comparison in COMPARISONS


def test_published_figures_of_a_certification_are_seconds_of_its_form() -> None:
    figure = Reference.read("form.creation_whole")
    assert (str(figure), figure.is_of_form, figure.is_duration, figure.read_value("18.1s")) == (
        *("form.creation_whole", True, True),
        18.1,
    )
    with pytest.raises(ValueError, match=r"did you mean `form.creation`"):
        Reference.read("form.creatoin")


def test_the_form_has_every_row_that_published_figures_may_name() -> None:
    rows = [*derive_measurements([trial()], None).d, *derive_measurements([batch()], None).d]
    assert {f"form.{row.key}" for row in rows if row.unit == "s"} == {*FORM, "form.reference"}
