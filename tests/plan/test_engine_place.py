import pytest

from cuesta.plan.engine_place import EnginePlace


@pytest.mark.parametrize("text", ["local", "ray", "ray:auto", "ray:10.0.0.1:6379", "ray:[fe80::1]:6379", "ssh:me@a,b"])
def test_it_is_written_as_it_is_read(text: str) -> None:
    assert str(EnginePlace.read(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "local:a", "ray:", "ray:local", "ray:head", "ray://head:10001", "ssh:", "ssh:a,", "ssh:a,b,a", "ssh:-oX=y"],
)
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"none of these|outside a cluster|named twice"):
        EnginePlace.read(text)
