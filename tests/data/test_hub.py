"""Data sets through the `datasets` library, on a local folder in the hub's layout: no net is needed."""

import json

import pytest

from zoo.data.sources import SPLITS, Hub
from zoo.errors import UserError

datasets = pytest.importorskip("datasets")

TEXTS = [f"text {i}" for i in range(200)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    for name, texts in (("train", TEXTS), ("validation", ["held out", ""])):
        rows = [json.dumps({"text": text, "label": i}) for i, text in enumerate(texts)]
        path = tmp_path / "data" / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(rows))
    return tmp_path / "data"


@pytest.mark.parametrize("streaming", [False, True])
def test_named_splits_are_used_and_others_cut_from_train(folder, streaming):
    source = Hub(
        name=str(folder), splits={"validation": "validation", "test": None}, test=0.1, streaming=streaming
    )
    made = {split: list(source.documents(split)) for split in SPLITS}
    assert made["validation"] == ["held out"]
    assert sorted(made["train"] + made["test"]) == sorted(TEXTS)
    assert 5 < len(made["test"]) < 40
    assert [row["label"] for row in source.rows("test")] == [TEXTS.index(text) for text in made["test"]]


def test_the_limit_holds_and_every_split_is_cut(folder):
    source = Hub(name=str(folder), limit=50, validation=0.2, test=0.2)
    made = {split: list(source.documents(split)) for split in SPLITS}
    assert sorted(text for part in made.values() for text in part) == sorted(TEXTS[:50])
    assert min(map(len, made.values())) > 0
    other = Hub(name=str(folder), limit=50, validation=0.2, test=0.2, seed=1)
    assert list(other.documents("test")) != made["test"]


def test_the_fingerprint_follows_settings_and_contents(folder):
    variants = [{}, {"seed": 1}, {"limit": 3}, {"field": "label"}, {"splits": {"validation": "validation"}}]
    assert len({Hub(name=str(folder), **settings).fingerprint() for settings in variants}) == len(variants)
    before = Hub(name=str(folder)).fingerprint()
    assert Hub(name=str(folder), streaming=True).fingerprint() == before
    (folder / "train.jsonl").write_text('{"text": "other"}')
    assert Hub(name=str(folder)).fingerprint() != before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"field": "body"}, r"no field 'body' \(but text, label\)"),
        ({"splits": {"train": "training"}}, "Unknown split"),
        ({"config": "other"}, "'other' not found"),
        ({"splits": {"dev": "validation"}}, "its keys are train, validation, test"),
        ({"validation": -1}, "leave text to train on"),
    ],
)
def test_bad_requests_are_explained(folder, settings, message):
    with pytest.raises(UserError, match=message) as caught:
        list(Hub(name=str(folder), **settings).documents("train"))
    assert "\n" not in str(caught.value)


def test_a_missing_folder_is_explained(tmp_path):
    with pytest.raises(UserError, match="cannot read"):
        list(Hub(name=str(tmp_path / "nowhere")).documents("train"))


def test_a_hub_out_of_reach_is_explained(monkeypatch):
    def refuse(*args, **settings):
        raise ConnectionError("no route")

    monkeypatch.setattr(datasets, "load_dataset", refuse)
    monkeypatch.setattr(datasets, "load_dataset_builder", refuse)
    source = Hub(name="somebody/something")
    for call in (source.fingerprint, lambda: list(source.documents("train"))):
        with pytest.raises(UserError, match="hub cannot be reached for somebody/something"):
            call()
