"""Changes told in Chinese, Japanese and Korean: `降低 40%`, `3倍提升`, `40%短縮`."""

from __future__ import annotations

import re

from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantity_context import Place
from ingest.claims.words.change_words import Sense
from ingest.claims.words.regex_parts import DECOR, by_sense, sense_in

_EASTERN = {
    Sense.FALL: r"降低|减少|缩短|下降|减小|节省|節約|削減|短縮|減少|低減|縮小|감소|단축|절감",
    Sense.GAIN: r"提升|提高|加速|加快|提速|快|高速化|速[いくか]|改善|向上|優化|优化|향상|개선|빠르|빨라",
    Sense.LOSS: r"遅[いくか]|低速化|慢|느리|느려",
    Sense.RISE: r"增加|增长|増加",
}
_EASTERN_BEFORE = re.compile(rf"(?:{by_sense(_EASTERN)})(?:了|至多)?{DECOR}(?:约|大约|近|超过|約|最大)?{DECOR}$")
_EASTERN_BEHIND = re.compile(rf"[\s*_`]*(?:的|の|以上)?(?:[一-鿿ぁ-ヿA-Z]{{0,6}}?)[のを]?(?:{by_sense(_EASTERN)})")


def in_eastern_words(place: Place) -> Effect | None:
    """`降低 40%`, `3倍提升`, `40%短縮`."""
    if found := _EASTERN_BEFORE.search(place.left):
        return place.effect(found.start(), place.quantity.end, (sense := sense_in(found)), found[sense.name])
    found = place.behind(_EASTERN_BEHIND, 16)
    return place.effect(place.before, found.end(), (sense := sense_in(found)), found[sense.name]) if found else None
