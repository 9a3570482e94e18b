"""The log of transactions: read by Cuesta, whole and damaged, and queried as docs/folder.md says."""

import re
from pathlib import Path

import duckdb
import pytest

from cuesta.errors import InputError
from cuesta.ledger import open_run
from cuesta.ledger.transactions import Transaction, read_transactions
from tests.run_folder import CLOCK, NANO, RunFolder

HEADER = "class_group,transaction,user,due,sent,first,done\n"
FOLDER_DOCUMENT = Path(__file__).parents[2] / "docs" / "folder.md"


def row(user: int, due: int, name: str = "log in") -> str:
    """A row of a transaction that is due after `due` s and takes 4 s."""
    stamps = [CLOCK + (due + each) * NANO for each in (0, 1, 2, 4)]
    return f'"night","{name}",{user},{",".join(map(str, stamps))}\n'


def transaction(user: int, due: int, name: str = "log in") -> Transaction:
    return Transaction("night", name, user, float(due), due + 1.0, due + 2.0, due + 4.0)


def write(folder: Path, *logs: str) -> Path:
    """A run whose agents have these logs."""
    run = RunFolder(folder / "RUN", agents=len(logs), measure=1).write()
    for agent, log in enumerate(logs):
        (run / f"agent-{agent}" / "transactions.csv").write_text(log)
    return run


def test_the_logs_of_all_agents_are_read_in_order_of_done(tmp_path: Path) -> None:
    run = write(tmp_path, HEADER + row(0, 1) + row(2, 3), HEADER + row(1, 2, 'say ""x"", y'))
    recorded = open_run(run)
    assert read_transactions(recorded) == [transaction(0, 1), transaction(1, 2, 'say "x", y'), transaction(2, 3)]
    assert recorded.damage == []


def test_a_run_without_a_log_has_no_transactions(tmp_path: Path) -> None:
    assert read_transactions(open_run(RunFolder(tmp_path / "RUN", measure=1).write())) == []


def test_a_log_is_read_up_to_where_it_is_cut_off(tmp_path: Path) -> None:
    log = HEADER + row(0, 1) + row(1, 2)
    recorded = open_run(write(tmp_path, log))
    path = recorded.agents[0].folder / "transactions.csv"
    for length in range(len(log)):
        path.write_text(log[:length])
        recorded.damage.clear()
        whole_rows = max(log[:length].count("\n") - 1, 0)
        assert read_transactions(recorded) == [transaction(0, 1), transaction(1, 2)][:whole_rows], length
        assert bool(recorded.damage) == (length > 0 and log[length - 1] != "\n"), length


def test_a_flipped_bit_damages_no_other_row(tmp_path: Path) -> None:
    rows = [row(0, 1), row(1, 2), row(2, 3)]
    recorded = open_run(write(tmp_path, HEADER + "".join(rows)))
    path = recorded.agents[0].folder / "transactions.csv"
    whole = path.read_bytes()
    begin = len(HEADER + rows[0])
    for at in range(begin, begin + len(rows[1]) - 1):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[at] ^= 1 << bit
            path.write_bytes(flipped)
            found = read_transactions(recorded)
            assert {0, 2} <= {each.user for each in found}, (at, bit)
            assert len(found) <= 3, (at, bit)


@pytest.mark.parametrize(
    "end",
    ["", ",4,5", ",x", "," + "9" * 400, "," + "9" * 200_000, ',"4'],
    ids=["a field less", "a field more", "no number", "beyond a float", "too long a field", "an open quote"],
)
def test_a_damaged_row_is_left_out_and_reported(tmp_path: Path, end: str) -> None:
    recorded = open_run(write(tmp_path, f'{HEADER}"night","log in",0,1,2,3{end}\n{row(1, 2)}'))
    assert read_transactions(recorded) == [transaction(1, 2)]
    assert recorded.damage == ["agent-0/transactions.csv: 1 row cannot be read and is left out"]


def test_the_log_of_an_earlier_version_is_refused_by_name(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "RUN", measure=1).write()
    (run / "agent-0" / "transactions.arrow").touch()
    recorded = open_run(run)
    assert recorded.damage == []
    with pytest.raises(InputError, match=r"RUN/agent-0/transactions\.arrow: .* reads transactions\.csv") as refused:
        read_transactions(recorded)
    assert "make the run again" in (refused.value.remedy or "")


def test_the_queries_of_the_documentation_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, HEADER + row(0, 1) + row(2, 3), HEADER + row(1, 2, 'say ""x"", y'))
    monkeypatch.chdir(tmp_path)
    (queries,) = re.findall(r"```sql\n(.*?)```", FOLDER_DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    with duckdb.connect() as connection:
        responses, to_parquet = connection.extract_statements(queries)
        assert sorted(connection.execute(responses).fetchall()) == [
            ("night", "log in", 2, 4.0),
            ("night", 'say "x", y', 1, 4.0),
        ]
        connection.execute(to_parquet)
        written = connection.execute("SELECT min(done - due), count(*) FROM 'transactions.parquet'").fetchone()
    assert written == (4 * NANO, 3)
