"""The recogniser accepts every story of the world and rejects what is wrong with one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.data.world import World, consistent, judge
from zoo.data.world.corrupt import CORRUPTIONS, corrupt

START = "A young baker called Anna was at the market. She had a red key. A short sailor named Ben was at the market."


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 5), st.sampled_from(("train", "validation", "test")))
def test_accepts_its_own_stories_and_their_beginnings(i, seed, split):
    story = World(seed=seed).story(split, i)
    verdict = consistent(story.text)
    assert verdict.ok, verdict.reasons
    assert 5 <= len(story.lines) <= 12
    for k in range(1, len(story.lines)):
        assert consistent(story.beginning(k), whole=False)


@pytest.mark.parametrize("kind", sorted(CORRUPTIONS))
def test_rejects_corruptions(kind):
    world = World()
    texts = [text for i in range(250) if (text := corrupt(world.story("train", i), kind, i))]
    wrongly = [text for text in texts if consistent(text)]
    assert len(texts) >= 5
    assert len(wrongly) <= 0.01 * len(texts), wrongly[0]


@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        ("Ben gave Anna the key.", "Ben does not have the key"),
        ("Anna gave Clara the key.", "Clara has not been introduced"),
        ("Anna gave Ben the hammer.", "no hammer has been mentioned"),
        ("Anna had a key.", "there is a key already"),
        ("Anna gave Ben the blue key.", "not blue"),
        ("Anna went to the market.", "already"),
        ("Ben went to the mill. Anna gave him the key.", "in different places"),
        ("Anna lost the key. She lost the key.", "Anna does not have the key"),
        ("Anna did not have the key.", "it is true"),
        ("Ben found the key.", "Anna has the key"),
        ("Anna dropped the key, and she went to the mill. She found the key.", "not at the mill"),
        ("Ben knew that Anna had lost the key.", "never happened"),
        ("Ben, who had stolen the key from Anna, went to the mill.", "never happened"),
        ('"I have lost my key," said Anna.', "never happened"),
        ('"Where is my key?" asked Anna.', "Anna has the key"),
        ("The sailor gave the baker the key.", "Ben does not have the key"),
        ("The smith looked sad.", "not known"),
        ("Ben lost his key.", "it is Anna's"),
        ("In the evening, Anna lost the key. In the morning, Ben found the key.", "turns the clock back"),
        ("A tall baker called Clara was at the mill.", "there is a baker already"),
        ("Anna heard a story about Sydney. Sydney was a small brown dog.", "no animal"),
        ("Anna and Clara went to the mill.", "Clara has not been introduced"),
        ("Anna broke the key. She broke the key.", "broken"),
    ],
)
def test_says_what_is_wrong(rest, reason):
    assert consistent(START, whole=False)
    verdict = consistent(f"{START} {rest}", whole=False)
    assert not verdict
    assert reason in verdict.reasons[0]


@pytest.mark.parametrize(
    "rest",
    [
        "Anna gave Ben the key.",
        "The baker gave the sailor her key.",
        "Anna went to the mill. Ben did not have the key.",
        "Anna dropped the key, and Ben found it. Anna knew that Ben had found the key.",
        '"I will give Ben the key," said Anna.',
        "Before Anna went to the mill, she gave the sailor the key.",
        "In the evening, Anna lost the key. The next morning, Ben found the key.",
    ],
)
def test_accepts_what_is_right(rest):
    verdict = consistent(f"{START} {rest}", whole=False)
    assert verdict.ok, verdict.reasons


def test_before_tells_the_later_event_first():
    told = f"{START} Before Ben found the key, Anna lost it."
    assert consistent(told, whole=False)
    assert not consistent(told.replace("Before Ben", "After Ben"), whole=False)


def test_a_whole_story_is_long_enough_and_settles_its_names():
    assert not consistent(START)
    more = " Anna mentioned Sydney. Ben looked sad."
    assert consistent(START + more, whole=False)
    assert "never settled" in consistent(START + more).reasons[0]
    assert consistent(START + more + " Sydney was a small town by the river.")
    assert not consistent("")


def test_judge_holds_claims_against_a_story():
    story = f"{START} Anna dropped the key. Ben found it."
    assert judge(story, "Ben found the red key.") == "true"
    assert judge(story, "Anna found the key.") == "false"
    assert judge(story, "Anna fed the hens.") == "unknown"
    assert judge(story, "Anna drops a key, and Ben finds it") == "true"
    assert judge(story, "Ben drops a key, and Anna finds it") == "false"
