"""Pairs of name and place, and of verb and thing, are kept for validation or for test."""

import pytest

from zoo.data.world import World
from zoo.data.world.grammar import FRAMES
from zoo.data.world.heldout import SPLITS, allowed_verbs, place_split
from zoo.data.world.measure import reserved_places, reserved_verbs
from zoo.data.world.names import PEOPLE
from zoo.data.world.nouns import PLACES, THINGS


def test_a_twentieth_of_the_pairs_is_reserved_for_either_split():
    splits = [place_split(name, place) for name in PEOPLE for place in PLACES]
    for split in ("validation", "test"):
        assert 0.04 < splits.count(split) / len(splits) < 0.06
    assert place_split("Nobody", "market") == place_split("Anna", "nowhere") == ""


def test_every_split_can_tell_everything_of_every_thing():
    for kind in {frame.kind for frame in FRAMES if "T" in frame.tail and frame.subject == "A"}:
        for thing in THINGS:
            for split in SPLITS:
                frames = [f for f in FRAMES if f.kind == kind and f.subject == "A" and not f.passive]
                assert any(allowed_verbs(split, frame, thing) for frame in frames)


@pytest.mark.parametrize("split", SPLITS)
def test_reserved_pairs_stand_only_where_they_belong(split):
    """Checked on the text (names and places anywhere in a story) and on what the parser reads (verbs, things)."""
    for i in range(300):
        story = World().story(split, i)
        places, verbs = reserved_places(story.text), reserved_verbs(story)
        assert set(places) | set(verbs) <= {split}
        assert split == "train" or places[split] > 0


def test_splits_share_no_story():
    texts = {split: {World().story(split, i).text for i in range(300)} for split in SPLITS}
    assert len(set.union(*texts.values())) == 900


def test_the_check_would_see_a_leak():
    name, place = next((n, p) for n in PEOPLE for p in PLACES if place_split(n, p) == "test")
    assert reserved_places(f"{name} went to the {place}.") == {"test": 1}
