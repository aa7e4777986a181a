"""The names of the world: who can be a person, a place, an animal or a ship.

Most names are plainly people. `AMBIGUOUS` names are two things at once (Florence the woman, Florence the town):
only the rest of the story tells which, and that is what the marked part of the tagging task asks for.
"""

from zoo.data.world.listed import listed

WOMEN = listed(
    "Alice Anna Beth Bridget Carla Cecily Clara Dora Edith Elena Ella Emma Esther Eva Fiona Frances Greta "
    "Hannah Helen Hilda Ida Ingrid Irene Jane Joan Judith Julia Karen Kate Laura Lena Lily Linda Lucy "
    "Mabel Maria Martha Mia Mona Nadia Nina Nora Olga Paula Petra Rachel Rita Rosa Sarah Sonia Susan "
    "Tessa Ursula Vera Wanda Zoe"
)

MEN = listed(
    "Aaron Adam Albert Anton Arthur Ben Bruno Carl Colin Daniel David Edgar Emil Eric Felix Frank Fred "
    "George Gustav Harold Henry Hugo Ivan Jacob James Jonas Karl Leo Louis Lucas Luke Martin Matthew "
    "Nathan Nicholas Oliver Oswald Otto Owen Paul Peter Philip Ralph Robert Roger Rupert Samuel Simon "
    "Stefan Theo Thomas Tobias Victor Walter William Xavier"
)

# name: gender if it is a person, the other thing that it may be
AMBIGUOUS: dict[str, tuple[str, str]] = {}
for _other, _gender, _names in (
    (
        "place",
        "f",
        "Florence Sydney Chelsea Victoria Georgia Charlotte Madison Adelaide Lorraine Verona Regina Savannah "
        "Virginia Carolina",
    ),
    (
        "place",
        "m",
        "Jordan Austin Lincoln Devon Hamilton Carson Dallas Kent Chester Preston Stanley Douglas Clinton Houston",
    ),
    ("animal", "f", "Daisy Bella Coco Ginger Misty Ruby Poppy Molly"),
    ("animal", "m", "Rusty Max Buddy Jasper Oscar Duke Toby Rex"),
    ("ship", "f", "Aurora Stella Grace Diana Gloria Marina Pearl"),
    ("ship", "m", "Hector Orion Ulysses Hermes"),
):
    AMBIGUOUS.update(dict.fromkeys(_names.split(), (_gender, _other)))

GENDER: dict[str, str] = (
    dict.fromkeys(WOMEN, "f")
    | dict.fromkeys(MEN, "m")
    | {name: gender for name, (gender, _) in AMBIGUOUS.items()}
)

PEOPLE: tuple[str, ...] = tuple(sorted(WOMEN + MEN))
