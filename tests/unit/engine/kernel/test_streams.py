"""Random streams: independent of each other, of order and of the hash seed."""

from simulations.engine.kernel.streams import Streams


def test_what_one_stream_draws_does_not_change_another() -> None:
    alone, mixed = Streams(7), Streams(7)
    mixed.stream("other").random()
    assert [alone.stream("names").random() for _ in range(3)] == [mixed.stream("names").random() for _ in range(3)]


def test_seed_and_name_both_count() -> None:
    draws = {Streams(seed).stream(name).random() for seed in (1, 2) for name in ("a", "b")}
    assert len(draws) == 4


def test_a_stream_goes_on_where_it_was() -> None:
    streams = Streams(1)
    assert streams.stream("a") is streams.stream("a")
    assert streams.stream("a").random() != streams.stream("a").random()


def test_a_stream_gives_the_same_numbers_everywhere() -> None:
    """The numbers are part of every stored trace: a change of them needs a new engine version."""
    assert Streams(1).stream("names").getrandbits(32) == 124960242
