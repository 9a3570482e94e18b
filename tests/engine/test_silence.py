from cuesta.engine.silence import LOST, STALLED, STARTING, Silence


def test_an_agent_that_stops_reporting_has_stalled_and_is_then_given_up() -> None:
    silence = Silence(is_remote=True)
    silence.begin(1)
    silence.hear(2)
    assert silence.look(2 + STALLED, is_driving=True) == 0
    assert (silence.longest, silence.why_lost()) == (STALLED, None)
    silence.look(2 + LOST, is_driving=True)
    assert "said nothing for 5.0 s" in (silence.why_lost() or "")
    silence.hear(3 + LOST)
    assert silence.look(3 + LOST, is_driving=True) == LOST, "it is told once, when it is over"
    assert silence.look(3 + LOST, is_driving=True) == 0


def test_an_agent_may_take_its_time_to_start_and_once_its_users_have_ended() -> None:
    silence = Silence(is_remote=True)
    silence.begin(1)
    silence.look(STARTING, is_driving=False)
    assert silence.why_lost() is None
    silence.hear(STARTING)
    silence.look(STARTING, is_driving=True)
    silence.look(STARTING + LOST, is_driving=False)
    silence.end()
    assert silence.look(STARTING + LOST, is_driving=False) == 0
    assert (silence.longest, silence.why_lost()) == (0, None)


def test_an_agent_that_never_ends_is_given_up() -> None:
    silence = Silence(is_remote=True)
    silence.begin(1)
    silence.look(1 + STARTING, is_driving=False)
    assert silence.why_lost()
