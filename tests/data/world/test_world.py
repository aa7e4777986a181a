"""Documents: a pure function of seed, split and index; splits; what a document is made of."""

import hashlib
import os
import subprocess
import sys

import pytest

from zoo.data.world import World, consistent, grammatical_second


def test_a_story_depends_on_seed_split_and_index_only():
    world = World(seed=3)
    later = [world.story("train", i).text for i in (7, 2, 7)]
    assert (
        later[0]
        == later[2]
        == World(seed=3, stories={"train": 1}, second_language=0.9).story("train", 7).text
    )
    texts = {
        World(seed=seed).story(split, i).text
        for seed in (3, 4)
        for split in ("train", "test")
        for i in (2, 7)
    }
    assert len(texts) == 8


def test_annotations_do_not_depend_on_the_order_in_which_they_are_asked_for():
    one, two = World().story("test", 5), World().story("test", 5)
    assert (one.headline, one.questions, one.dialogue, one.statements) == tuple(
        reversed((two.statements, two.dialogue, two.questions, two.headline))
    )


def test_documents_are_the_same_under_another_hash_seed():
    code = (
        "import hashlib; from zoo.data.world import World; world = World(stories={'train': 30}, second_language=0.5);"
        "stories = [world.story('test', i) for i in range(5)]; texts = list(world.documents('train'));"
        "texts += [repr((story.questions, story.statements)) for story in stories];"
        "print(hashlib.sha256('|'.join(texts).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_documents_are_headline_and_story_in_one_of_two_languages():
    world = World(stories={"train": 200}, second_language=0.3)
    documents = list(world.documents("train"))
    second = talked = 0
    for i, document in enumerate(documents):
        headline, body, *turns = document.split("\n")
        story = world.story("train", i)
        if body == story.text:
            assert headline == story.headline
            assert consistent(body)
            assert [f"- {turn}" for turn in story.dialogue] == turns or not turns
            talked += bool(turns)
        else:
            assert body == " ".join(story.translation)
            assert grammatical_second(headline + ".")
            second += 1
    assert 35 <= second <= 85
    assert talked > 10


def test_sizes_and_share_are_respected_and_checked():
    assert len(list(World(stories={"test": 3}).documents("test"))) == 3
    assert not any(line.startswith("-") for line in World(second_language=1.0).story("test", 0).translation)
    with pytest.raises(ValueError, match="dev"):
        World(stories={"dev": 3})
    with pytest.raises(ValueError, match="second_language"):
        World(second_language=1.5)


def test_the_fingerprint_tells_worlds_apart():
    prints = [
        World().fingerprint(),
        World(seed=1).fingerprint(),
        World(stories={"train": 5}).fingerprint(),
        World(second_language=0.2).fingerprint(),
    ]
    assert len(set(prints)) == 4
    assert prints[0] == World().fingerprint()


def test_the_fingerprint_follows_the_generators_source(tmp_path, monkeypatch):
    from zoo.data.world import world as module

    before = World().fingerprint()
    (tmp_path / "world.py").write_text("another generator")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "world.py"))
    assert World().fingerprint() != before


def test_stories_differ():
    world = World()
    texts = [world.story("train", i).text for i in range(500)]
    assert len({hashlib.sha256(text.encode()).digest() for text in texts}) == 500
