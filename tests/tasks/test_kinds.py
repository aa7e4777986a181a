"""What 0 of a scale is, where it is more than the most frequent answer."""

from zoo.tasks.kinds import looked_up
from zoo.tasks.task import Example, Span


def tagged(text, *names):
    """An example in which every named text is a span, where it first stands."""
    return Example(
        "", text, spans=tuple(Span(text.index(n), text.index(n) + len(n), label) for n, label in names)
    )


def test_names_are_looked_up_as_what_they_mostly_are():
    train = [
        tagged("Jordan met Ann in New York", ("Jordan", "person"), ("Ann", "person"), ("New York", "place")),
        tagged("Jordan is dry", ("Jordan", "place")),
        tagged("In Jordan it rains", ("Jordan", "place")),
        tagged("York is old, says Ann", ("York", "place"), ("Ann", "person")),
        tagged("May came", ("May", "person")),
        tagged("it rains in May"),
        tagged("and in May"),
    ]
    text = "Ann left New York for Jordan, not Annapolis, in May; New people in York"
    (found,) = looked_up(lambda split: train)([Example("", text)])
    assert [(text[s.start : s.end], s.label) for s in found] == [
        ("Ann", "person"), ("New York", "place"), ("Jordan", "place"), ("York", "place"),
    ]  # fmt: skip


def test_where_train_names_nothing_nothing_is_found():
    assert looked_up(lambda split: [Example("", "nobody")])([Example("", "Ann")]) == [()]
