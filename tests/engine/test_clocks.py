from cuesta.engine.clocks import WINDOW, AgentClock, Reading

AHEAD = 5_000_000_000_000


def test_a_round_trip_bounds_what_it_reads() -> None:
    """The answer of a clock that is ahead comes at any moment of the round trip."""
    for answered_after in (0, 30, 100):
        reading = Reading.from_round_trip(1000, 1000 + answered_after + AHEAD, 1100)
        assert abs(reading.offset - AHEAD) <= reading.error == 50


def test_instants_are_converted_and_counted_from_the_start() -> None:
    clock = AgentClock("other", Reading(0, AHEAD, 50))
    assert clock.start(7) == AHEAD + 7
    assert clock.engine_instant(clock.instant(123)) == 123
    assert clock.since_start(7, 2_000_000_000) == 2_000_000_000


def test_a_clock_is_held_until_the_best_reading_of_several_contradicts_it() -> None:
    clock = AgentClock("other", Reading(0, AHEAD, 50))
    clock.start(0)
    for drift, noted in ((60, 0), (200, 200)):
        best = Reading(9, AHEAD + drift, 40)
        worse = [Reading(at, AHEAD + 10_000, 20_000) for at in range(WINDOW - 1)]
        assert [clock.take(reading) for reading in (best, *worse)] == [None] * (WINDOW - 1) + [best]
        assert clock.since_start(0, 1000) == 1000 + noted
