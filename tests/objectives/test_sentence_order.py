"""Two stretches of one text, in order or swapped, and nothing but their content says which."""

import numpy as np

from zoo.objectives import MaskedLM
from zoo.objectives.sentence_order import IN_ORDER, SWAPPED, ordered_pair


def found(stream, stretch):
    """Where ``stretch`` stands in the stream."""
    n = len(stretch)
    return [i for i in range(len(stream) - n + 1) if (stream.tokens[i : i + n] == stretch).all()]


def numbered(make_rows, lengths, n, starts):
    """Rows whose every token is another, so that one sees where it comes from."""
    rows = make_rows(lengths, n, starts)
    rows.stream.tokens[:] = np.arange(len(rows.stream)) + 100
    return rows


def test_both_begin_with_sentences_of_one_document_and_the_label_says_which_was_first(make_rows):
    rng = np.random.default_rng(0)
    rows = numbered(make_rows, [200] * 20, 40, rng.integers(0, 3000, 64))
    text, cut, labels = ordered_pair(rows, rng)
    assert (cut == 20).all()
    for row, label in zip(text, labels, strict=True):
        first, second = row[0] - 100, row[20] - 100
        assert (np.diff(row[:20]) == 1).all()
        assert (np.diff(row[20:]) == 1).all()
        assert first in rows.stream.sentences
        assert second in rows.stream.sentences
        assert rows.stream.document_of(first) == rows.stream.document_of(second)
        assert (first < second) == (label == IN_ORDER)
        assert abs(first - second) >= 20
    assert abs((labels == SWAPPED).mean() - 0.5) < 0.02


def test_a_short_document_gives_way_to_the_next(make_rows):
    rows = numbered(make_rows, [12, 200, 200, 200], 40, [0, 3, 7])
    text, _, _ = ordered_pair(rows, np.random.default_rng(0))
    documents = rows.stream.document_of(text[:, [0, 20]] - 100)
    assert (documents == 1).all()


def test_where_no_document_is_long_enough_rows_are_whole_all_the_same(make_rows):
    rows = numbered(make_rows, [6] * 40, 40, [0, 100, 180])
    text, _, _ = ordered_pair(rows, np.random.default_rng(0))
    assert text.shape == (3, 40)
    assert ((text >= 100) & (text < 100 + 240)).all()


def test_masked_lm_asks_for_it(make_rows):
    rows = make_rows([200] * 10, 40, [0, 300, 600, 900])
    batch = MaskedLM(wrong_pair="swapped")(rows, np.random.default_rng(0))
    assert sorted(set(batch.next_sentence.tolist())) == [0, 1]
    assert batch.inputs.shape == (4, 43)
