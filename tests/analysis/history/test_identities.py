"""The tables of the original documents: computing finds every known error and misreading."""

from functools import cache
from pathlib import Path

import pytest

from cuesta.analysis.history.identities import DocumentCheck, Finding, FindingKind, check_document
from cuesta.errors import InputError
from cuesta.ledger.historical import Document, Identity, PrintedValue, read_historical

STUDIES = Path(__file__).parents[3] / "studies"
MCS, EMACS = "history/mcs-1979", "emacs/published"
FORM, GOALS, TMUX = "certification/published", "benchmark/1974", "history/tmux-1993"

MISREAD, ERROR, CARRIED = FindingKind.MISREAD, FindingKind.ERROR, FindingKind.CARRIED
CONTRADICTION, IMPOSSIBLE, INCOMPLETE = FindingKind.CONTRADICTION, FindingKind.IMPOSSIBLE, FindingKind.INCOMPLETE
UNREADABLE, ROUNDING = FindingKind.UNREADABLE, FindingKind.ROUNDING


@cache
def checked(study: str) -> DocumentCheck:
    return check_document(read_historical(STUDIES / f"{study}.toml"))


def findings(study: str, name: str) -> list[Finding]:
    return [each for each in checked(study).findings if each.name == name]


def check_made_up(prints: dict[str, str], *formulas: str, **more: PrintedValue) -> DocumentCheck:
    """Check a document made of these prints and formulas."""
    all_prints = {name: PrintedValue(text) for name, text in prints.items()} | more
    return check_document(Document("made up", all_prints, tuple(Identity(each) for each in formulas)))


KNOWN = [
    # The headline of 1979, computed from its own meters
    (MCS, "best.interactive_7.transactions", ERROR, "40"),  # 41 printed, divided out of a nominal size
    (MCS, "best.interactive_8.transactions", ERROR, "31"),  # 33 printed
    (MCS, "best.bisync_8.kchars", ERROR, "11.1"),  # 11.4 printed
    (MCS, "think.mr8_0.kchars", ROUNDING, "5.2"),  # 5.3 in the second table
    (MCS, "text.below", ERROR, "22"),  # "some 25% below MR7.0"
    (MCS, "think.mr8_5.kchars", IMPOSSIBLE, None),  # more than 96 lines carry at 163 characters
    # 1. More than all of a system, and of how many CPUs
    (MCS, "i8.interrupt_share", IMPOSSIBLE, None),
    (MCS, "o8.interrupt_share", IMPOSSIBLE, None),
    (MCS, "b8.interrupt_share", IMPOSSIBLE, None),
    (MCS, "i8_cpus", CONTRADICTION, "1.00"),
    # 2. Interrupts, by their average time between and by the FNP's own count
    (MCS, "i8_fnp.total.count", ERROR, "32877"),
    (MCS, "o8_fnp.total.count", ERROR, "34751"),
    (MCS, "b8_fnp.total.count", ERROR, "10247"),
    # 3. More terminals dialed than there are lines
    (MCS, "i7.ave_dialed", IMPOSSIBLE, None),
    (MCS, "i8.ave_dialed", IMPOSSIBLE, None),
    (MCS, "o7.ave_dialed", IMPOSSIBLE, None),
    (MCS, "o8.ave_dialed", IMPOSSIBLE, None),
    (MCS, "b8.ave_dialed", IMPOSSIBLE, None),
    # 4 to 6. Misread
    (MCS, "o7.terminal_hours", MISREAD, "38.86"),
    (MCS, "o8_idle.idle.percent", MISREAD, "40.4%"),
    (MCS, "o8_idle.header.percent", MISREAD, "40.4%"),  # 41.4 beside 40 in the table
    (MCS, "o8_idle.dia.name", MISREAD, "dia"),
    (MCS, "i8_idle.idle.percent", ROUNDING, "15.8"),  # modules and idle make 100.1
    (MCS, "b8.output", MISREAD, "692,630"),
    (MCS, "b8_fnp.a.count", MISREAD, "770"),
    (MCS, "b8_fnp.total.count", MISREAD, "112674"),
    (MCS, "b8.terminal_hours", MISREAD, "8.06"),
    (MCS, "b8.read_ahead_share", MISREAD, "0.0%"),
    # 7 to 11
    (MCS, "best.bisync_8.free_buffers", CONTRADICTION, "156"),
    (MCS, "best.interactive_7", INCOMPLETE, None),  # "41 N/A": cells have shifted
    (MCS, "b8.header", CONTRADICTION, "8.0"),  # header of one release, caption of the other
    (MCS, "best.bisync_7.free_buffers", ERROR, "164"),  # octal 244
    (MCS, "setting.block", CONTRADICTION, None),  # no line's characters are a multiple of 290
    (MCS, "b7_lines.line_205.baud", ERROR, "7376"),
    (MCS, "text.third", ERROR, "3"),  # conclusions 1, 2, 4
    (MCS, "best.interactive_8.fnp_idle", CONTRADICTION, "16"),  # "<15%"
    # 12. The configuration deck
    (MCS, "deck_words.zone.word", MISREAD, "mst"),
    (MCS, "deck.front_end_a.word", CONTRADICTION, None),
    (MCS, "deck_words.root.word", MISREAD, "dska"),
    (MCS, "deck.peripheral_1.word", MISREAD, "prph"),
    (MCS, "deck_words.printer_a.word", CONTRADICTION, None),
    (MCS, "deck_words.operator.word", MISREAD, "opc"),
    (MCS, "memories.mem_1", ERROR, None),  # two are called e
    (MCS, "deck.traffic.word", MISREAD, "tcd"),
    (MCS, "deck.parameters.word", MISREAD, "parm"),
    (MCS, "deck_words.tty_buffers.word", MISREAD, "ttyb"),
    (MCS, "deck_words.tty_queue.word", CONTRADICTION, None),
    # 1969
    (FORM, "a.daemon.command", MISREAD, "15.4"),
    (FORM, "b.non_fault.total", ERROR, "220.7"),
    (FORM, "b.total.total", CARRIED, "356.8"),
    (FORM, "b.interrupt.command", ROUNDING, "13.2"),
    (FORM, "d.ctss", MISREAD, "45 sec."),
    (FORM, "settings.quantum_5", IMPOSSIBLE, None),  # "6.", garbled
    (FORM, "legend.W", MISREAD, "wall crossing"),
    # 1974
    (GOALS, "system.20_2.percent", ERROR, "87.5"),
    (GOALS, "system.23_7.percent", ROUNDING, "92.1"),
    (GOALS, "system.23_9.percent", ERROR, "87.8"),
    (GOALS, "improvement.virtual_time_quantum.elapsed", ERROR, "81.7"),
    (GOALS, "improvement.virtual_time_quantum.percent", ROUNDING, "78.1"),
    (GOALS, "text.improvement", ERROR, "50"),  # elapsed time saved, or throughput gained
    (GOALS, "text.page_control_touches", CONTRADICTION, "20"),  # a paging load of 40 %, or of 20 %
    (GOALS, "text.measured_vtq", CONTRADICTION, "81.6"),
    (GOALS, "text.elapsed_23_9", CONTRADICTION, "min"),  # "91.8 System": out of order
    (GOALS, "heading.estimate", INCOMPLETE, "Est.Imp. H (use mean est.imp.)"),
    (GOALS, "improvement.backup.saves", ERROR, "4"),
    (GOALS, "text.page_control_all", ERROR, "24"),
    (GOALS, "text.cache", ERROR, "23"),
    # 1981
    (EMACS, "text.cycle", ERROR, "14"),  # "10 minutes"
    (EMACS, "text.wait", CONTRADICTION, "9.9"),  # "at least 6.3"
    (EMACS, "text.page_waits", ERROR, "43"),
    (EMACS, "text.corrected", ERROR, "33"),
    (EMACS, "ttm_35.getwork.average", MISREAD, "547.643"),
    (EMACS, "disk_35.page_transfer", MISREAD, "48.877"),
    (EMACS, "disk_35.vtoce_transfer", MISREAD, "44.514"),
    (EMACS, "traffic_35.queue", MISREAD, "7.46"),
    (EMACS, "disk_35.other_atb", MISREAD, "24.849"),
    (EMACS, "disk_35.vtoce_atb", ROUNDING, "10759.901"),
    (EMACS, "quantity.column", INCOMPLETE, None),
    (EMACS, "quantity.column.drives", UNREADABLE, None),
    (EMACS, "disk_1.vtoce_atb", MISREAD, "51638.650"),
    (EMACS, "disk_1.atb", MISREAD, "3760.095"),
    (EMACS, "disk_1.other_wait", MISREAD, "44.453"),
    (EMACS, "time_35.traffic_control", CONTRADICTION, "0:36:13"),
    (EMACS, "head.date", CONTRADICTION, None),  # a Sunday
    (EMACS, "head.front_end", MISREAD, "DN6678"),
    (EMACS, "line.a", MISREAD, "abcd abcde[CR]^g"),
    # 1993: sar's rows make 99 to 101
    (TMUX, "telnet.ports_25.usr", ROUNDING, "99"),
]


@pytest.mark.parametrize(("study", "name", "verdict", "says"), KNOWN, ids=str)
def test_known_errors_of_the_originals_are_found(study: str, name: str, verdict: FindingKind, says: str | None) -> None:
    found = [each for each in findings(study, name) if each.verdict is verdict]
    assert found, [(each.verdict, each.computed, each.reading) for each in findings(study, name)]
    assert says is None or says in {each for one in found for each in (one.computed, one.reading)}


def test_an_unknown_misreading_is_found() -> None:
    """8.0 interactive: four identities give 1,139,198 characters, where the reference prints 1,129,198."""
    (found,) = findings(MCS, "i8.output")
    assert (found.verdict, found.reading, len(found.against)) == (MISREAD, "1,139,198", 4)


@pytest.mark.parametrize("study", [MCS, EMACS, FORM])
def test_every_typed_reading_is_confirmed_by_identities(study: str) -> None:
    typed = {name: each.reading for name, each in checked(study).document.prints.items() if each.reading}
    undecided = {"setting.block", "disk_1.busy"}  # evidence for neither: 290 is only refuted, 0 holds if cut off
    confirmed = {each.name: each.reading for each in checked(study).findings if each.verdict is MISREAD}
    assert confirmed == {name: reading for name, reading in typed.items() if name not in undecided}


def test_correct_prints_of_the_originals_are_not_doubted() -> None:
    assert (checked(TMUX).identities, checked(TMUX).unexplained) == (121, ())
    doubted = {each.name for study in (MCS, FORM, GOALS) for each in checked(study).findings}
    right = {"best.interactive_7.kchars", "best.output_8.kchars", "a.total.total", "d.creation", "text.attach"}
    assert not doubted & {*right, "b7.date", "improvement.page_control.elapsed", "text.page_control"}


def test_an_error_names_the_prints_that_it_contradicts_and_affects() -> None:
    (found,) = findings(FORM, "b.non_fault.total")
    assert found.against == ("b.non_fault.total = b.non_fault.creation + b.non_fault.command",)
    assert found.support[0].startswith("b.total.total = b.page.total")
    (carried,) = findings(FORM, "b.total.total")
    assert found.support == carried.support


def test_one_identity_and_a_last_digit_do_not_show_a_misreading() -> None:
    found = check_made_up({"sum": "10.4", "a": "4.1", "b": "6.0"}, "sum = a + b").findings
    assert [(each.name, each.verdict, each.computed, each.reading) for each in found] == [("sum", ERROR, "10.1", None)]


def test_two_prints_alone_do_not_show_which_is_wrong() -> None:
    (found,) = check_made_up({"told": "41.4", "again": "47.4"}, "told = again").findings
    assert (found.verdict, found.reading) == (CONTRADICTION, None)


def test_a_typed_reading_is_accepted_if_it_repairs_an_identity_and_breaks_none() -> None:
    prints = {"a": "50.1", "b": "14.0", "c": "30.0", "rest": "64.1"}
    formulas = "sum = a + b + c", "rest = sum - c"
    (found,) = check_made_up(prints, *formulas, sum=PrintedValue("34.1", reading="94.1")).findings
    assert (found.name, found.verdict, found.reading, len(found.support)) == ("sum", MISREAD, "94.1", 2)
    refused = check_made_up({**prints, "rest": "4.1"}, *formulas, sum=PrintedValue("34.1", reading="94.1")).findings
    assert [(each.name, each.verdict, each.reading) for each in refused] == [("sum", ERROR, None)]


def test_readings_that_depend_on_each_other_are_accepted_together() -> None:
    prints = {"a": PrintedValue("30.0", reading="80.0"), "b": PrintedValue("14.0", reading="11.0")}
    found = check_made_up({"sum": "91.0"}, "sum = a + b", **prints).findings
    assert {each.name: each.reading for each in found} == {"a": "80.0", "b": "11.0"}


def test_more_than_100_percent_is_impossible_and_is_not_clipped() -> None:
    (found,) = check_made_up({"share": "223.3%", "all": "100%"}, "share <= 100").findings
    assert (found.verdict, found.printed, found.reading) == (IMPOSSIBLE, "223.3%", None)


def test_rounded_percentages_may_add_up_to_99_or_101() -> None:
    assert check_made_up({"a": "33%", "b": "33%", "c": "33%"}, "100 = a + b + c").unexplained == ()
    assert check_made_up({"a": "33%", "b": "33%", "c": "31%"}, "100 = a + b + c").unexplained != ()


@pytest.mark.parametrize(
    ("formula", "wrong"),
    [
        ("a = nope", "expected a name of the file, got nope"),
        ("a = {x}.nope", "no names fit"),
        ("a + 1", "expected one of = <= >= in divides"),
        ("a = (1 + 2", "'(' was never closed"),
        ("a = eval(1)", "the functions sum"),
        ("a = a.real", "expected a name of the file"),
        ("a = sum()", "the functions sum"),
        ("a = 1 ; 2", "invalid syntax"),
        ("a = 2 ** 2", "expected numbers, names"),
        ("a = __import__", "expected a name of the file"),
        ("a = " + "(" * 250 + "1" + ")" * 250, "too many nested parentheses"),
        ("a = " + "-" * 250 + "1", "expected at most 200 levels"),
    ],
)
def test_an_invalid_formula_is_refused(formula: str, wrong: str) -> None:
    with pytest.raises(InputError) as refused:
        check_made_up({"a": "1"}, formula)
    assert wrong in str(refused.value)


def test_circular_definitions_are_refused() -> None:
    document = Document("circle", {"a": PrintedValue("1")}, (Identity("a = x"),), {"x": "y + 1", "y": "x"})
    with pytest.raises(InputError, match="derived from itself"):
        check_document(document)
