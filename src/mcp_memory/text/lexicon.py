"""Synonyms in English and Spanish that do not change a fact.

Whatever is not listed here counts as a difference, so each line must hold in any sentence. Words whose
meanings part in some sentence (`right`/`correct`, `home`/`house`, `auth`) have no place in it.
"""

from collections.abc import Iterator

from mcp_memory.text.stopwords import listed


def _rows(table: str) -> Iterator[list[str]]:
    return (line.split() for line in table.strip().splitlines())


def _groups(table: str) -> dict[str, str]:
    """Each word of a line to the first word of that line."""
    return {word: first for first, *rest in _rows(table) for word in (first, *rest)}


# Verbs inflect (-s, -ing; -ed with a mark of the past). The first of a line stands for all.
_VERB_GROUPS = _groups(
    """
    like prefer enjoy
    love
    hate detest loathe
    dislike
    live reside dwell
    buy purchase
    sell
    begin start commence
    end
    finish
    conclude
    continue proceed
    use utilize utilise
    need require
    want desire
    try attempt
    fix repair
    delete remove erase
    choose pick select
    show display
    answer reply respond
    help assist
    stop cease halt
    keep retain
    permit allow
    forbid prohibit
    modify change alter
    collect gather
    run execute
    happen occur
    leave depart
    notify inform
    build construct
    create
    have
    own possess
    request
    verify
    contain
    return
    consume
    store
    approve
    fear
    clean
    wash
    """
)
_PLAIN_VERBS = listed(
    """
    accept add agree analyze analyse apply arrive ask attend avoid bake become believe belong book
    borrow bring call cancel carry catch check click close collaborate come commit commute compile
    complete configure connect consider convert cook copy cost cover crash cycle dance decide deliver
    depend deploy describe develop disable discuss download draw drink drive earn eat edit email
    enable encrypt expect expire explain export fail fall feed feel fetch fill find fly focus follow
    forget format generate give go grow handle hear hike hire hold hope host import improve increase
    install invite join jump know label last lead learn lend listen load lock log look lose maintain
    make manage measure meet mention merge migrate miss model monitor move offer open optimize order
    organize paint park pass pay plan plant play point practice practise prepare print produce
    program provide publish push quit read receive recommend record reduce refuse release remember
    rent replace report reset resolve restart review ride save say schedule search see send serve
    share sign sing sit skip sleep smoke speak spend stand stay study suffer suggest support swim
    switch sync take talk teach tell test think throw track train translate travel trust turn
    understand update upgrade upload validate visit wait wake walk watch wear win work write
    """
)

_IRREGULAR_PAST = _rows(
    """
    begin began begun
    buy bought
    sell sold
    keep kept
    forbid forbade forbidden
    run ran
    leave left
    build built
    choose chose chosen
    show shown
    go went gone
    come came
    write wrote written
    eat ate eaten
    drink drank drunk
    drive drove driven
    give gave given
    take took taken
    make made
    meet met
    send sent
    spend spent
    teach taught
    think thought
    know knew known
    speak spoke spoken
    see saw seen
    say said
    tell told
    win won
    lose lost
    lend lent
    bring brought
    find found
    feel felt
    hear heard
    hold held
    fly flew flown
    grow grew grown
    become became
    wear wore worn
    sleep slept
    swim swam swum
    understand understood
    pay paid
    lead led
    stand stood
    sit sat
    wake woke woken
    ride rode ridden
    """
)

# Nouns take a regular plural; what has another one stands in _EXACT.
_NOUN_GROUPS = _rows(
    """
    mother mom mum
    father dad
    grandmother grandma
    grandfather grandpa
    movie film
    car automobile
    bike bicycle
    phone telephone
    doctor physician
    lawyer attorney
    job occupation
    apartment flat
    photo photograph
    colleague coworker
    boss supervisor
    company firm
    holiday vacation
    sofa couch
    fridge refrigerator
    lab laboratory
    exam examination
    config configuration
    repo repository
    db database
    var variable
    email e-mail
    goal objective
    """
)

_EXACT = _groups(
    """
    child kid
    children kids
    grandchildren grandkids
    grandchild grandkid
    docs documentation
    production prod
    environment env
    information info
    math maths mathematics
    tv television
    big large
    fast quick rapid
    quickly rapidly
    hard difficult
    scared afraid
    happy pleased glad
    sick ill
    wrong incorrect
    whole entire
    rich wealthy
    often frequently
    usually normally typically generally
    sometimes occasionally
    maybe perhaps
    almost nearly
    about approximately roughly
    rarely seldom
    every each
    until till
    near nearby
    everyone everybody
    nobody noone
    anyone anybody
    someone somebody
    answer reply response
    answers replies responses
    am a.m a.m.
    pm p.m p.m.
    and &
    monday mon
    tuesday tue tues
    thursday thu thur thurs
    friday fri
    color colour
    colors colours
    favorite favourite
    favorites favourites
    behavior behaviour
    neighbor neighbour
    neighbors neighbours
    labor labour
    humor humour
    flavor flavour
    honor honour
    harbor harbour
    center centre
    theater theatre
    fiber fibre
    gray grey
    license licence
    program programme
    catalog catalogue
    traveling travelling
    canceled cancelled
    modeling modelling
    labeled labelled
    cafe café
    prefiere gusta encanta
    live vive
    viven residen
    empieza comienza
    empiezan comienzan
    termina finaliza acaba
    usa utiliza
    usan utilizan
    necesita requiere
    necesitan requieren
    quiere desea
    quieren desean
    eligió escogió
    coche carro automóvil
    ordenador computadora computador
    móvil celular
    difícil complicado
    rápido veloz
    envía manda
    borra elimina
    repara arregla
    empezó comenzó
    terminó finalizó acabó
    compró adquirió
    """
)

UNITS = _groups(
    """
    kilometer kilometers kilometre kilometres km
    meter meters metre metres
    centimeter centimeters centimetre centimetres cm
    millimeter millimeters millimetre millimetres mm
    mile miles mi
    liter liters litre litres
    milliliter milliliters millilitre millilitres ml
    kilogram kilograms kg kilo kilos
    milligram milligrams mg
    gram grams g
    lb lbs
    millisecond milliseconds ms
    second seconds sec secs s
    minute minutes min mins
    hour hours hr hrs h
    day days
    week weeks
    month months
    year years
    kilobyte kilobytes kb
    megabyte megabytes mb
    gigabyte gigabytes gb
    terabyte terabytes tb
    dollar dollars usd
    euro euros eur
    percent %
    minuto minutos
    segundo segundos
    hora horas
    """
)
"""Each unit to the one that stands for it; only right after a number, for `min` is a minimum elsewhere."""

# Whole phrases, on lower-case text, in this order. What they become is then read word by word.
PHRASES: tuple[tuple[str, str], ...] = (
    (r"^(?:please )?(?:remember|note|fyi|nb|info|reminder)(?: that\b|:)\s*", ""),
    (r"^(?:recuerda|nota)(?: que\b|:)\s*", ""),
    (r"^(?:so, )?(?:basically|by the way|btw|just so you know|for your information),\s*", ""),
    (r"[,.!]\s*(?:thank you|thanks|gracias|obrigad[oa]|danke|merci)[.!]*$", ""),
    (r"\bno one\b", "nobody"),
    (r"\b(?:no more than|a maximum of)\b", "at most"),
    (r"\b(?:no less than|no fewer than|a minimum of)\b", "at least"),
    (r"\bwi-fi\b", "wifi"),
    (r"\bannual\b", "yearly"),
    (r"\b(it|that|there|he|she|here|what|who|where)'s\b", r"\1 is"),
    (r"\bcan'?t\b|\bcannot\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"\bshan't\b", "shall not"),
    (r"(?<=\w)n't\b", " not"),
    (r"(?<=\w)'m\b", " am"),
    (r"(?<=\w)'re\b", " are"),
    (r"(?<=\w)'ve\b", " have"),
    (r"(?<=\w)'ll\b", " will"),
    (r"\b(?:every|each) day\b|\bon a daily basis\b", "daily"),
    (r"\b(?:every|each) week\b|\bon a weekly basis\b", "weekly"),
    (r"\b(?:every|each) month\b|\bon a monthly basis\b", "monthly"),
    (r"\b(?:every|each) year\b|\bannually\b", "yearly"),
    (r"\bcada día\b|\btodos los días\b|\bdiariamente\b", "diario"),
    (r"\bcada semana\b|\btodas las semanas\b|\bsemanalmente\b", "semanal"),
    (r"\bcada mes\b|\btodos los meses\b|\bmensualmente\b", "mensual"),
    (r"\bcada año\b|\btodos los años\b|\banualmente\b", "anual"),
    (r"^a(l| la| el)? (.+?) les? (?:gusta|encanta)n?\b", r"\2 prefiere"),
    (r"\bwould like(?: to)?\b", "wants"),
    (r"\bwould rather\b", "prefers"),
    (r"\b(?:is|are|am) (?:fond of|keen on|a fan of)\b", "likes"),
    (r"\b(?:do|does) not (?:like|enjoy)\b", "dislikes"),
    (r"\b(?:is|are|am) employed (?:at|by|with)\b|\b(?:is|are|am) working for\b", "works at"),
    (r"\bworks for\b", "works at"),
    (r"\bhas an allergy to\b", "is allergic to"),
    (r"\b(is|are) called\b", r"\1 named"),
    (r"\b(?:is|are|am) going to\b", "will"),
    (r"\b(?:is|are|am) not able to\b|\b(?:is|are|am) unable to\b", "can not"),
    (r"\b(?:is|are|am) able to\b", "can"),
    (r"\b(?:has|have) to\b", "must"),
    # To be used to something is no past.
    (
        r"(?<!\bam )(?<!\bare )(?<!\bbe )(?<!\bbeen )(?<!\bget )(?<!\bgot )(?<!\bis )(?<!\bwas )\bused to\b",
        "formerly",
    ),
    (r"\b(?:due to|owing to)\b", "because of"),
    (r"\bin order to\b", "to"),
    (r"\bclose to\b", "near"),
    (r"\bas well as\b", "and"),
    (r"\b(?:as well|at the moment|these days|right now|at present|the fact that)\b", " "),
    (r"\b(?:lots of|a lot of)\b", "lots"),
    (r"\ba (few|little|couple|bit)\b", r"a\1"),  # few friends are fewer than a few
    (r"\b(\d+) years? (?:old|of age)\b", r"aged \1"),
    (r"\be-mail", "email"),
    (r"\bweb (site|server|page)", r"web\1"),
    (r"\bon (?=(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:mon|tue|tues|thu|thur|thurs|fri)\b)", ""),
)

# These add nothing to a fact. Not here: anything of time, degree of certainty, number or direction.
FILLERS = listed(
    """
    a an the do does really very quite simply actually definitely basically currently now still
    also already indeed please that
    el la los las un una unos unas muy también ya actualmente realmente
    """
)
EMPHASIS = listed(
    """
    really very quite simply actually definitely basically currently now still also already indeed
    muy también ya actualmente realmente
    """
)
"""Fillers that a negation makes something of: `not definitely coming` is not `not coming`."""

SAME_IN_THE_PAST = listed("cost read put set hit cut let shut quit split spread bet beat hurt cast burst")
"""Verbs whose past looks like their present: only the -s of `costs` says that it is not past."""

# What one likes, drinks or speaks has no order; steps have.
UNORDERED_AFTER = listed("like hate dislike drink eat speak know use want need enjoy love play have own")

DETERMINERS = listed(
    """
    a an the this that these those my your his her its our their no some any all every each of for with
    in on by from has have had
    """
)
AUXILIARIES = listed("is are was were has have had can could will would shall should must may might")
ARTICLES_OF_ONE = frozenset({"a", "an", "un", "una"})
PRESENT_OF_BE = frozenset({"is", "are", "am", "es"})  # but not está: es aburrido is not está aburrido
PAST = "~past"
SUBJECTS_LEFT_OUT = frozenset({"user", "usuario"})  # at the beginning, a note is about its user
# After these, `to swim` and `swimming` are the same.
BEFORE_INFINITIVES = frozenset({"like", "hate", "dislike", "begin", "continue"})
# Words of two letters that mean something else in capitals: the US is not us.
CAPITALS_MATTER = listed("us it who is am an as at or in on no so to me may will be do he we")


def _counted(words: str, first: int, step: int = 1) -> dict[str, str]:
    return {word: str(first + step * place) for place, word in enumerate(words.split())}


NUMBERS = {
    **_counted("zero one two three four five six seven eight nine ten eleven twelve thirteen", 0),
    **_counted("fourteen fifteen sixteen seventeen eighteen nineteen twenty", 14),
    **_counted("thirty forty fifty sixty seventy eighty ninety", 30, 10),
    **_counted("dos tres cuatro cinco seis siete ocho nueve diez", 2),
}

_MONTH_NAMES = """
    january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sep/sept
    october/oct november/nov december/dec
"""
MONTHS = {
    name: number for number, names in enumerate(_MONTH_NAMES.split(), start=1) for name in names.split("/")
}


def _inflected(verb: str) -> Iterator[tuple[str, str]]:
    """The forms of a regular verb, each with the mark of the past if it has one."""
    if verb.endswith("e"):
        yield from ((verb + "s", ""), (verb[:-1] + "ing", ""), (verb + "d", PAST))
    elif verb.endswith("y") and verb[-2] not in "aeou":
        yield from ((verb[:-1] + "ies", ""), (verb + "ing", ""), (verb[:-1] + "ied", PAST))
    else:
        plural = "es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s"
        for root in (verb, verb + verb[-1]):  # travel: traveling and travelling
            yield from ((root + "ing", ""), (root + "ed", PAST))
        yield verb + plural, ""
    yield verb, ""


def _verb_forms() -> dict[str, str]:
    groups = {verb: verb for verb in _PLAIN_VERBS} | _VERB_GROUPS
    forms = {form: groups[verb] + mark for verb in groups for form, mark in _inflected(verb)}
    for verb, *pasts in _IRREGULAR_PAST:
        forms |= dict.fromkeys(pasts, groups[verb] + PAST)
    return forms | {"has": "have", "had": "have" + PAST}


def _nouns() -> dict[str, str]:
    singular = {word: first for first, *rest in _NOUN_GROUPS for word in (first, *rest)}
    return singular | {word + "s": first + "s" for word, first in singular.items()}


VERB_FORMS = _verb_forms()
"""Every known form of a verb to what it stands for."""

SYNONYMS = _nouns() | _EXACT
"""Every other known word to what it stands for."""
