"""Words that name a difference between two texts: negations, opposites, quantities, times."""

from mcp_memory.text.lexicon import SYNONYMS, VERB_FORMS
from mcp_memory.text.stopwords import listed


def _meaning(word: str) -> str:
    return VERB_FORMS.get(word) or SYNONYMS.get(word) or word


NEGATIONS = listed(
    """
    not no never none nobody nothing nowhere neither nor without cannot hardly barely unable stop avoid
    lack nunca jamás sin nadie nada ni tampoco ningún ninguna
    """
)

QUANTITIES = listed(
    """
    all some most few many several both half only more less least every always often sometimes rarely
    once twice single dozen lots little much about exactly almost any partly
    todos todas algunos algunas muchos pocos siempre solo
    """
)

MODALS = listed("must may might can could should shall will would try plan consider want puede debe")

TIMES = listed(
    """
    monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow morning afternoon
    evening night daily weekly monthly yearly summer winter spring autumn weekend weekends weekdays next
    lunes martes miércoles jueves viernes sábado domingo hoy ayer mañana
    """
)

_OPPOSITES = """
    dark/light hot/cold open/closed enabled/disabled like/hate like/dislike increased/decreased up/down
    early/late passed/failed bought/sold on/off long/short won/lost north/south east/west accept/reject
    accepted/rejected public/private maximum/minimum left/right fast/slow big/small high/low lend/borrow
    lent/borrowed married/single always/never ascending/descending begin/stop began/stopped start/end
    followed/ignored before/after above/below over/under valid/invalid available/unavailable true/false
    inside/outside internal/external first/last good/bad new/old strong/weak easy/hard rich/poor
    wired/wireless trusts/distrusts agreed/disagreed enable/disable add/delete import/export for/against
    from/to front/behind everyone/nobody allow/forbid push/pull read/write upload/download
    oscuro/claro abierta/cerrada encendido/apagado antes/después con/sin siempre/nunca
"""

ANTONYMS = frozenset(
    frozenset(form)
    for pair in _OPPOSITES.split()
    for form in (pair.split("/"), map(_meaning, pair.split("/")))
)
"""Pairs that say the contrary of each other."""
