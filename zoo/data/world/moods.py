"""The words that carry a mood. No single one decides: a story mixes them, and its mood is the one it shows most."""

from zoo.data.world.listed import listed

MOODS: tuple[str, ...] = ("cheerful", "gloomy", "tense", "calm")

_MANNERS = {
    "cheerful": "happily merrily gladly brightly joyfully eagerly",
    "gloomy": "sadly wearily bitterly miserably mournfully glumly",
    "tense": "nervously anxiously fearfully hastily uneasily tensely",
    "calm": "calmly peacefully gently quietly patiently serenely",
}
_FEELINGS = {
    "cheerful": "happy glad proud delighted merry excited",
    "gloomy": "sad lonely tired unhappy miserable sorry",
    "tense": "afraid nervous worried angry anxious upset",
    "calm": "calm content relaxed patient peaceful thoughtful",
}
_SKIES = {
    "cheerful": "bright sunny clear lovely warm golden",
    "gloomy": "dull rainy dreary foggy bleak misty",
    "tense": "stormy dark wild threatening grim harsh",
    "calm": "mild still soft hushed cool pale",
}
# something to hear or see: subject, verb (base form)
_SCENES = {
    "cheerful": "the children|laugh; the birds|sing; the bells|ring; a band|play; the crowd|cheer",
    "gloomy": "the rain|fall; the leaves|wither; a widow|weep; the flowers|fade; the old roof|leak",
    "tense": "the thunder|roar; the dogs|growl; the shutters|rattle; an alarm|howl; the wolves|prowl",
    "calm": "the bees|hum; the cat|doze; a breeze|whisper; the clouds|drift; the dew|glitter",
}

MANNERS: dict[str, tuple[str, ...]] = {mood: tuple(words.split()) for mood, words in _MANNERS.items()}
FEELINGS: dict[str, tuple[str, ...]] = {mood: tuple(words.split()) for mood, words in _FEELINGS.items()}
SKIES: dict[str, tuple[str, ...]] = {mood: tuple(words.split()) for mood, words in _SKIES.items()}
SCENES: dict[str, tuple[tuple[str, str], ...]] = {
    mood: tuple((subject, verb) for part in line.split(";") for subject, verb in [part.strip().split("|")])
    for mood, line in _SCENES.items()
}
MOOD_OF: dict[str, str] = {
    word: mood for table in (MANNERS, FEELINGS, SKIES) for mood, words in table.items() for word in words
} | {f"{subject} {verb}": mood for mood, scenes in SCENES.items() for subject, verb in scenes}
PLAIN_MANNERS: tuple[str, ...] = listed("slowly quickly carefully politely secretly busily")
