"""Topics, and the jobs, places, things and activities that belong to them (some to two topics)."""

from typing import NamedTuple

from zoo.data.world.listed import listed


class Place(NamedTuple):
    """A place noun, the preposition it takes, its topics."""

    noun: str
    preposition: str
    topics: tuple[str, ...]


class Thing(NamedTuple):
    """Something to hold: its noun, whether it is a plural, its topics."""

    noun: str
    plural: bool
    topics: tuple[str, ...]


TOPICS: tuple[str, ...] = (
    "market", "sea", "garden", "school", "workshop", "farm", "kitchen", "railway", "forest", "theatre",
)  # fmt: skip

_JOBS = {
    "market": "merchant trader jeweller butcher",
    "sea": "sailor captain diver fisher",
    "garden": "gardener florist beekeeper botanist",
    "school": "teacher pupil librarian scholar",
    "workshop": "carpenter smith potter mechanic",
    "farm": "farmer shepherd miller drover",
    "kitchen": "cook baker waiter brewer",
    "railway": "conductor porter driver clerk",
    "forest": "hunter ranger woodcutter guide",
    "theatre": "actor singer painter juggler",
}
JOBS: dict[str, tuple[str, ...]] = {topic: tuple(words.split()) for topic, words in _JOBS.items()}

# "preposition noun noun ...; ..." per topic; a noun named under two topics belongs to both
_PLACES = {
    "market": "at market bank fountain; in square arcade bakery; on bridge",
    "sea": "at harbour lighthouse; on beach pier island; in boathouse cove",
    "garden": "in garden greenhouse orchard park; at fountain pond; on terrace",
    "school": "in classroom library courtyard gym; at school museum; on playground",
    "workshop": "in workshop forge cellar yard; at mill sawmill; on scaffold",
    "farm": "in barn stable meadow orchard; at farm mill; on hill",
    "kitchen": "in kitchen pantry bakery cellar tavern; at inn; on terrace",
    "railway": "at station crossing depot; on platform bridge; in tunnel carriage",
    "forest": "in forest cabin cave meadow; at waterfall camp; on hill",
    "theatre": "at theatre fair; in gallery studio square; on stage balcony",
}
_THINGS = {
    "market": "purse ring coins scale necklace carpet vase scarf umbrella basket lamp",
    "sea": "anchor net compass rope shell pearls map telescope oar bottle",
    "garden": "spade rose seeds pot basket rake gloves bulb ladder bench",
    "school": "book pencil ruler globe notebook satchel letter map pens diary",
    "workshop": "hammer saw nails chisel wrench bucket ladder plank toolbox key clock",
    "farm": "bucket saddle lantern plough bell eggs blanket sickle rope boots",
    "kitchen": "pan knife plates kettle jar spoon recipe tray cake bottle",
    "railway": "ticket suitcase whistle parcel flag lantern timetable watch letter umbrella",
    "forest": "axe tent arrows torch mushrooms feather backpack compass horn boots",
    "theatre": "mask costume violin drum ribbon script mirror candles flute painting",
}
_PLURAL = set(listed("coins pearls seeds gloves pens nails eggs boots plates arrows mushrooms candles"))


def _gather(table: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    nouns = dict.fromkeys(noun for words in table.values() for noun in words)
    return {noun: tuple(topic for topic, words in table.items() if noun in words) for noun in nouns}


_PREPOSITION = {
    noun: group.split()[0]
    for line in _PLACES.values()
    for group in line.split(";")
    for noun in group.split()[1:]
}
PLACES: dict[str, Place] = {
    noun: Place(noun, _PREPOSITION[noun], topics)
    for noun, topics in _gather(
        {topic: [n for g in line.split(";") for n in g.split()[1:]] for topic, line in _PLACES.items()}
    ).items()
}
THINGS: dict[str, Thing] = {
    noun: Thing(noun, noun in _PLURAL, topics)
    for noun, topics in _gather({topic: line.split() for topic, line in _THINGS.items()}).items()
}

TOPIC_PLACES: dict[str, tuple[str, ...]] = {
    t: tuple(n for n, p in PLACES.items() if t in p.topics) for t in TOPICS
}
TOPIC_THINGS: dict[str, tuple[str, ...]] = {
    t: tuple(n for n, p in THINGS.items() if t in p.topics) for t in TOPICS
}

# what a thing may look like; any of these goes with any thing
LOOKS: tuple[str, ...] = listed(
    "red blue green yellow white black brown grey purple orange small big heavy light old new strange pretty plain "
    "broad narrow tiny huge shiny dusty round curious costly cheap rare"
)
# what a person may be like at first sight
TRAITS: tuple[str, ...] = listed(
    "young elderly tall short clever kind shy polite honest stubborn famous modest"
)

# who somebody may be to somebody else, with the gender it implies
KIN: dict[str, str] = {
    "sister": "f", "brother": "m", "aunt": "f", "uncle": "m", "daughter": "f", "son": "m", "mother": "f", "father": "m",
    "friend": "", "neighbour": "", "cousin": "", "partner": "",
}  # fmt: skip

# What people do when nothing happens: verb, and the rest of the phrase.
_ACTIVITIES = {
    "market": "count the money; weigh the apples; argue about prices; sell cheese; praise the silk",
    "sea": "mend the sails; watch the waves; scrub the deck; study the tide; gut the herring",
    "garden": "water the tulips; pull the weeds; trim the hedge; plant a tree; pick cherries",
    "school": "read a poem; solve a riddle; write an essay; learn the alphabet; draw a circle",
    "workshop": "sharpen the tools; polish the brass; measure the boards; heat the iron; oil the wheels",
    "farm": "milk the cows; feed the hens; stack the hay; shear the sheep; harvest the wheat",
    "kitchen": "stir the soup; peel the onions; bake bread; wash the dishes; taste the sauce",
    "railway": "check the signals; load the wagons; stoke the engine; read the newspaper; sweep the tracks",
    "forest": "gather the firewood; study the moss; listen to the owls; follow the deer; pick berries",
    "theatre": "practise a dance; learn the lines; tune the piano; paint the scenery; try a trick",
}
ACTIVITIES: dict[str, tuple[str, ...]] = {
    t: tuple(p.strip() for p in line.split(";")) for t, line in _ACTIVITIES.items()
}
