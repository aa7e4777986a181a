"""What a sentence means: events with roles, in clauses, joined by a relation."""

from typing import NamedTuple


class Event(NamedTuple):
    """Something that happens or holds. Roles are names or nouns; several people are joined with "&"."""

    kind: str
    agent: str = ""
    thing: str = ""
    other: str = ""
    place: str = ""
    detail: str = ""  # the job of an "intro", the adjective of a "feel", the activity of a "do"


class Noun(NamedTuple):
    """A noun phrase as it stands in the text: how it refers, and to what."""

    how: str  # name pronoun they pair job title called kin speaker hearer; a the it poss; place there
    key: str  # the name, noun, job or pronoun
    number: str  # i, s or p, as the verb sees it
    look: str = ""  # an adjective; of people, the job or the kinship
    owner: str = ""  # his, her, or a name
    trait: str = ""  # "kind" in "a kind baker called Anna"
    relative: "Clause | None" = None


class Clause(NamedTuple):
    """One clause: a verb group, the frame it stands in, and what fills the frame's places."""

    kind: str
    verb: str
    form: str
    negative: bool
    frame: str  # the name of the frame: which role is subject, what follows the verb
    nouns: tuple[tuple[str, Noun], ...]  # role, noun phrase; in the order of the text
    detail: str = ""
    manner: str = ""
    time: str = ""
    inner: "Clause | None" = None  # the clause after "that", or the infinitive after "wanted"


class Meaning(NamedTuple):
    """A sentence: its relation (the name of its construction), its clauses as the text has them, what stands first."""

    relation: str
    clauses: tuple[Clause, ...]
    front: str = ""  # a time or a manner before the first comma
    speech: tuple[Noun, ...] = ()  # speaker and hearer, where somebody speaks
    say: str = ""
