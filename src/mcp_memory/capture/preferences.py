"""The rule for preferences and standing rules that a person states."""

from __future__ import annotations

import re

from mcp_memory.capture.lexicon import ANAPHORIC, PAST_EVENT, I
from mcp_memory.capture.speech import Sentence

_LIKES = re.compile(
    r"^(?:personally,? |in general,? |generally,? )?(?:I (?:really |strongly |generally |usually |much "
    r"|always |absolutely |personally )?"
    r"(?:prefer(?! (?:if|to (?:wait|see|look|start|do (?:it|this|that))))\b|(?:like|love"
    r"|enjoy)\b(?! (?:how|your|you|the|this|these|those|that|them|him|her|it|seeing|watching|to (?:help"
    r"|see|know|hear|add|make|ask|get)|getting|what|where)\b)|hate\b|dislike\b|detest\b|can't stand\b"
    r"|cannot stand\b|don't (?:like|want (?:you|any))\b|do not like\b)"
    r"|I'd (?:rather|prefer)(?! (?:if|to (?:wait|see|look|start)))|I (?:usually|normally|typically"
    r"|generally) (?!get|see)\w+|I want (?:you to always|answers|replies|responses|commits|commit messages)"
    r"|my preference is|my preferred \w+|my fav(?:ou?rite|orite) \w+(?: \w+)? is"
    r"|(?:yo )?prefiero|(?:a mí )?me (?:gustan?|encantan?|molestan?)(?!(?: mucho| más)?,? (?:cómo|lo que"
    r"|así|est[oe]|es[oe]|el resultado|la idea))|no me gustan?|no soporto|odio"
    r"|detesto|mi \w+ (?:favorit[oa]|preferid[oa]) es)\s*(?P<what>.*)",
    I,
)
_ORDER = re.compile(
    r"^(?:please |and |but |so )*(?:never (?!(?:mind|thought|knew|heard|understood|felt|got|seen|had|been"
    r"|saw|ever|give|stop|say|again|too"
    r"|a|the|in)\b)[a-z]+(?<!ed)(?<!ing)\b|always (?!(?:is|was|here|happy|glad|good|great|up|a|the|there"
    r"|in|nice|fun|so|been|had)\b)[a-z]+(?<!ed)(?<!ing)(?<!ly)\b|(?:don't|do not) ever \w+"
    r"|stop (?:\w+ing)\b.*(?:all the time|every time|always|annoying|hate|please stop|in (?:every|your))"
    r"|nunca (?!(?:he|había|hemos|me|funciona|sale|va|falla|pasa|hay|está|es)\b)\w+|jamás (?!(?:he"
    r"|había)\b)\w+|siempre (?:que|usa|usamos"
    r"|escribe|pon|ejecuta|responde|contesta|pregunta|haz|hay que|trabajamos|\w+mos)\b)",
    I,
)
_HABIT = re.compile(
    r"\b(?:we|you|y'all)(?: (?:should|must|can|may))? (?:always|never) (?!(?:find|found|know|knew|get"
    r"|got|say|said|do that|initiali[sz]ed|expected|had|were|was|did)\b)\w+(?<!ed)\b"
    r"|\byou (?:must|may|should) (?:not|never|always)\b|\bmust never\b|\bshould (?:never|always)\b"
    r"|\bmust not\b.*\bever\b"
    r"|\b(?:as a rule|by convention|house rule|our (?:rule|convention|policy|standard|style(?: guide)?"
    r"|practice)s?\b)"
    r"|\bthat's our (?:rule|convention|policy|style)\b|\bno exceptions\b"
    r"|^(?:in|for|on) (?:this|our|the|all) (?:\w+ )?(?:repo(?:sitory)?|project|codebase|code base|team"
    r"|company|monorepo|app|services?)s?,? (?:we|use|always|never|there)\b"
    r"|^we (?:don't|do not) (?:use|log|allow|write|commit|deploy|mix|nest|mock|store|push|do|want|ever)\b"
    r"|^(?:always|siempre),|, (?:always|never)[.!]?$"
    r"|\b(?:for|in|on) (?:every|all|each|any) (?:\w+ )?(?:commit|file|function|test|project|repo|module"
    r"|answer|reply|migration|endpoint|pr|pull request|change|class|script|component|query|response"
    r"|branch)s?\b"
    r"|\bnunca (?:usamos|desplegamos|hacemos|ponemos|escribimos|\w+mos)\b|\bsiempre (?:usamos|\w+mos)\b"
    r"|\bpor norma\b|\bnuestra (?:norma|regla|convención|política)\b"
    r"|^en (?:este|nuestro) (?:proyecto|repositorio|equipo|repo|código)\b|^(?:contéstame|respóndeme"
    r"|escríbeme|háblame) siempre\b|\b(?:resume|responde|contesta|escribe|pregunta|usa|avisa) siempre\b",
    I,
)
_STANDING = re.compile(
    r"^(?:no|keine?|pas de|nada de|ni) [\w -]{3,40} (?:without|unless|ohne|sans|sin)\b"
    r"|\b(?:ask|check with|tell|ping|warn|wait for) me (?:first )?before\b|\bwithout asking(?: me)?\b"
    r"|^(?:(?:whenever|every time|each time|any time|anytime) you(?:'re| are|'ve)? .{3,60}|(?:when"
    r"|if) you(?:'re| are|'ve)?"
    r" .{0,40}\b(?:anything|something|any|longer than)\b.{0,60}),? ?(?:please )?"
    r"(?:not |no |don't |never |always |ping|tell|ask|send|use|put|give|keep|add|write|run|start|leave|make"
    r"|check)"
    r"|^(?:it )?(?:annoys me|drives me (?:nuts|crazy|mad)|bugs me)\b|\bnot (?:a|much of a|a big) fan of\b"
    r"|\bI'm (?:not |more of )?an? [\w-]+ person\b|\b(?:over|to) [\w-]+ any day\b|\bunless I (?:say|ask"
    r"|tell)\b"
    r"|^(?:less|fewer|no more|enough with|skip the|spare me|shorter|keep (?:it|your|the|answers|replies"
    r"|messages)\b.*"
    r"\b(?:short|brief|terse|simple|plain|concise)|be (?:brief|terse|concise|blunt)"
    r"|just give me) ?[\w ]*(?:please|answers?"
    r"|emojis?|comments?|explanations?|preamble|intros?|summar\w+|bullet\w*|tables?)?\b.*\b(?:please|always"
    r"|answers?|replies"
    r"|emojis?|explanations?|preamble|bullets?|summar\w+|messages)\b"
    r"|^(?:British|American|metric|imperial|24[ -]?h\w*|ISO|SI)\b.{0,40}\b(?:please|only|always|everywhere)\b"
    r"|^(?:by default|default to|if in doubt)\b|\bI (?:tend|like) to (?!think|see|know)\w+|^(?:we"
    r"|around here we|here we)"
    r" (?:tend to|try to|like to|normally|usually|generally|only|stick to|prefer)\b"
    r"|^(?:tests?|migrations?|docs?|fixtures?|configs?|scripts?|secrets|screenshots|components|commits?"
    r"|commit messages|branch"
    r"(?:es)?|dates|prices|amounts|names|variables|files|comments)(?: \w+){0,3} (?:go(?:es)? (?:in|into"
    r"|under|to)|live in"
    r"|belong in|are (?:written|named|always)|in (?:english|spanish|german|french|present|past|imperative))\b"
    r"|^(?:los|las) [\wáéíóúñ]+(?: \w+){0,3} (?:van|se ponen|se escriben|ponlos|ponlas) (?:en|con|sin|a)\b"
    r"|^(?:no (?:uses|pongas|añadas|me pongas|metas|escribas)|evita) .*\b(?:en (?:los|las|mis|tus|el|la)"
    r"|nunca|jamás"
    r"|por favor|respuestas|correos|commits)\b|^(?:don't|do not|avoid) (?:use|add|put|write|send|give|using"
    r"|adding)\b.*"
    r"\b(?:in (?:commit|my|our|your|the (?:docs|emails?|answers|code ?base))|emojis?|ever|please, ever"
    r"|anymore|any more)\b"
    r"|^(?:use|name|format|prefix|keep|sign|label|sort|cite) (?!the\b|this|that|these|those|my\b|it\b"
    r"|an? )(?:[\w-]+ ){0,3}"
    r"(?:quotes|tabs|spaces|commits|commit messages|branches|comments|dates|prices|names|answers|summaries"
    r"|reports|e-?mails"
    r"|bullets|units|imports|types|variables|functions|classes|sentences|hints|errors|logs|prs"
    r"|pull requests)\b"
    r"(?!.*\b(?:for|in) (?:this|the|it)\b)"
    r"|^(?:(?:day|month|year|surname|metric|celsius|euros?|formal|informal|short|plain|lower ?case"
    r"|upper ?case|tabs|spaces|single"
    r" quotes|double quotes|semicolons|dark mode|english|spanish|german|french|en español|auf deutsch"
    r"|en français)\b"
    r"(?: \w+){0,3},? (?:please|por favor|bitte|s'il te plaît))"
    r"|^not (?:before|after|on|later than) (?:\d|mon|tues|wednes|thurs|fri|satur|sun|noon|lunch)"
    r"|^(?:address|call) me (?:as|by|\w+$)|^(?:habla|trátame|llámame|escríbeme|contéstame)\w* (?:de|en|por)\b"
    r"|^(?:under no circumstances|never ever)\b|\b(?:me va mejor|mejor sin|quiero que siempre)\b"
    r"|^(?:same|likewise|ditto) (?:for|goes for|with) (?:every|all|each|any|the other)\b"
    r"|^our [\w ]{2,30}? (?:go|look|start|begin|end|follow|are (?:always|named|written|called|formatted))\b"
    r"|^(?:the|all|every) [\w -]{2,40} (?:has|have|needs?) to be\b.*\b(?:otherwise|because|or else|since"
    r"|or the)\b"
    r"|^(?:siempre|nunca) (?:de|en|con|sin)\b|^no me (?:tutees|hables|trates|mandes|escribas|pongas|llames"
    r"|des)\b"
    r"|^(?:sin|nada de) [\wáéíóúñ ]{3,40} (?:por favor|en (?:los|las|el|la|mis))\b"
    r"|^(?:ich )?(?:will|möchte|mag|hasse|bevorzuge) (?:keine?|lieber|nicht|immer|es nicht)\b"
    r"|^bitte (?:immer|nie|keine?)\b"
    r"|^(?:schreib|nenn|duz|siez|antworte|benutz|nimm) .*\b(?:immer|nie|niemals)\b|^(?:nie|niemals|immer) \w+"
    r"|^(?:je (?:préfère|déteste|n'aime pas|ne veux (?:pas|plus|jamais))|j'(?:aime(?: pas)?|ai horreur))\b"
    r"|^(?:toujours|jamais) (?!pas|vu|eu|été)\w+|^tu me (?:tutoies|vouvoies)\b",
    I,
)
_FOR_MY_THINGS = re.compile(
    r"^(?:in|for|on|with) (?:all (?:of )?)?(?:my|our) (?:own )?[\w-]+(?: [\w-]+)?,? (?:we |I "
    r"|please )?(?:use|always"
    r"|never|put|write|no|keep|stick|avoid|prefer)\b"
    r"|^for (?!(?:now|this|that|the|example|instance)\b)[\w-]+(?: [\w-]+)? we (?:use|do|write|run|follow"
    r"|stick|have)\b"
    r"|^(?:los|las|el|la) [\wáéíóúñ]+ (?:los|las|lo|la) \w+mos (?:con|en|por|a|sin|como)\b"
    r"|^[\w-]{3,}s (?:always )?(?:go|live|belong) (?:in|into|under) [\w`./-]+"
    r"|\beverywhere in (?:this|our|the) (?:repo\w*|project|code ?base|app|docs?)\b"
    r"|^no need for .{3,60}, ever\b"
    r"|^(?:don't|do not|stop) (?:give|giving|show|showing|send|sending|suggest|suggesting|offer|ask"
    r"|asking) me (?!(?:that|this|it"
    r"|the|those|these|a|an|to)\b)[\w-]{3,}"
    r"|\b(?:when|if|whenever) I (?:say|write|mention|talk about"
    r"|ask (?:you )?for) .{2,60}?,? (?:I (?:always )?(?:mean"
    r"|want|expect)|please|just|only|always|never|give me|don't)\b|\bby [\w\" -]{2,40} I (?:always )?mean\b"
    r"|\b(?:cuando|si) (?:digo|diga|hablo de|hable de|(?:te )?(?:pido|pida)) .{2,60}?,? (?:me refiero"
    r"|quiero|dame"
    r"|hazlo|siempre|nunca|solo)\b",
    I,
)
"""How something of one's own is to be treated, or what one's words mean."""

_TEXTS = (
    r"answers?|replies|reply|responses?|explanations?|messages|e-?mails|letters|summaries|reports|slides"
    r"|commits"
)
_HOW_TO_ANSWER = re.compile(
    rf"^(?:please )?(?:keep|make|leave) (?:your|all|my) (?:{_TEXTS})\b"
    r"|^(?:please )?(?:answer|reply|respond|write|speak|talk|explain)(?: to)?(?: me)? in (?-i:[A-Z])\w+,? "
    r"(?:even|always|unless|only|whatever|whenever|no matter)\b"
    r"|^when(?:ever)? you (?:give|show|send|write|explain|suggest|answer|review|generate|create|quote|list"
    r"|propose)"
    r" (?:me )?(?!(?:this|that|the|it)\b)[\w ]{3,30},? (?:please )?(?:put|use|add|give|show|keep|mark|start"
    r"|include|leave"
    r"|don't|do not|always|never|only|also|tell|ask|explain|write)\b"
    r"|^(?:for|in|with) (?!(?:this|that|the|now)\b)[\w -]{3,25},? I (?:always |usually "
    r"|generally )?(?:prefer|like|want|use)\b"
    rf"|^no [\w -]{{3,30}} in (?:{_TEXTS}|my|our|the (?:docs|e-?mails|code))\b"
    r"|\bI'm (?:much |far )?(?:more |most )?comfortable with\b|\bI (?:work|think|learn|read"
    r"|understand) (?:much )?better (?:with|in)\b"
    r"|^(?:please )?(?:don't|do not|never|stop) (?!(?:that|this|it)\b).{5,60} (?:ever again|any ?more)[.!]?$"
    r"|^(?:las|los|el|la) [\wáéíóúñ]+ (?:siempre|nunca) (?:en|con|sin|a|de|por)\b",
    I,
)
_IN_GENERAL = re.compile(
    r"\b(?:wherever|whenever|where|when(?:ever)?) (?:it's |it is )?(?:possible|we can|you can|I can)\b"
    r"|\bI find (?!(?:this|that|it|these)\b).{3,40} (?:easier|better|clearer|nicer|harder|annoying"
    r"|confusing|distracting)\b"
    r"|\bthat's how (?:I|we) (?:learn|work|like|do|prefer|think|want)\b|^(?:just|only) [\w ]{2,20}, no \w+"
    r"|^if you(?:'re| are) (?:unsure|not sure|in doubt|stuck|guessing),? \w+"
    r"|^if you don't know(?: something)?, \w+"
    r"|\bin everything (?:that|you|I|we)\b|\bI (?:really )?(?:need|want|expect|would like"
    r"|'d like) you to (?:always )?\w+ .{3,60}"
    r" (?:when|whenever|every time|each time|if) (?:you|I|we|there)\b"
    r"|^(?:please )?stop \w+ing (?:every|each|all|in your|with your)\b|^we(?:'re"
    r"| are) an? [\w.+#-]+ (?:shop|household|only team)\b"
    r"|^(?:don't|do not|never) (?:suggest|recommend|propose|offer)(?: me)? (?!(?:that|this|it|the)\b"
    r"|.*\b(?:yet|now|first)\b)\w+"
    r"|^[\w -]{3,50} in our (?:team|company|house|household|family|class|school|office|codebase)[.!]?$"
    r"|^(?:tutéame|trátame)\b|^(?:quiero|queremos) .{3,60} siempre[.!]?$|^aquí (?:los|las"
    r"|el|la) [\wáéíóúñ]+ (?:van?|se)\b"
    r"|^(?:cuando|si|siempre que) (?:me |lo )?(?:corrijas|escribas|des|hagas|uses|pongas|mandes|respondas"
    r"|contestes"
    r"|expliques|resumas|traduzcas|generes|propongas|crees|revises|cites) .{3,40}, (?:marca|pon|usa|dime"
    r"|avísame|haz|deja|añade|explica"
    r"|dame|escribe|no \w+|pregúntame)\b",
    I,
)
"""What is said of every such case."""

_CONVENTION = re.compile(
    r"^(?:all|every|each)(?: of)? (?:our|my) [\w -]{3,30} (?:returns?|uses?|are|is|have|has|goes|go|starts?"
    r"|ends?|follows?|lives?"
    r"|runs?|must|needs?)\b"
    r"|^we (?:always |usually |only )?(?:write|name|format|document|test|deploy|ship|release|review|merge|log"
    r"|version|estimate|commit|comment|store|tag|track|bill|invoice|pay) (?:(?:our|all(?: our)?|every)"
    r" [\w -]{3,30}?|[\w-]{3,}s) (?:in|as|with|on|by|from|under|before|after|via|per)\b"
    r"(?!.*\b(?:tomorrow|today|now|first|here|this)\b)"
    r"|^(?:please )?(?:use|stick (?:to|with)) [\w./+-]+(?: [\w./+-]+)?,? (?:and )?(?:not|never|instead of"
    r"|rather than|over)"
    r" [\w./+-]+,?.{0,20}\b(?:in|for|across) (?:this|our|all|the whole) (?:repo\w*|projects?|code ?base"
    r"|team|company|services?)\b"
    r"|^en (?:esta|este|mi|nuestr[oa]) (?:empresa|equipo|casa|oficina|instituto|centro|despacho|clínica"
    r"|tienda)\b.*\b(?:se \w+|no"
    r"|siempre|nunca|\w+mos)\b",
    I,
)
"""How a group does a kind of thing."""

_KEEPS_OFF = re.compile(
    r"^(?:please )?(?:don't|do not|never) (?:touch|edit|modify|change|delete|remove|rename|mess with"
    r"|upgrade|commit"
    r"|push(?: to)?|merge(?: into)?) (?!(?:that|this|it|them|these|those|anything|any"
    r"|my mind)\b)[^,;:.]{3,50}"
    r"(?:[,;:.–-]+ ?|\s+(?:because|since|as) )(?!(?:please|just|only|thanks|yet|ok)\b)"
    r"(?:(?:it's|it is|they're|they are|that's) |[\w-]+(?: [\w-]+)? (?:owns?|generates?|manages?|maintains?"
    r"|depends?"
    r"|relies|reads?|needs?|uses?|breaks?)\b)"
    r"|^no (?:toques|edites|borres|cambies|renombres|subas) (?!eso|esto|lo\b|nada)[^,;:.]{3,50}[,;:.]? ?"
    r"(?:que|porque|lo|la|los|las|es|son|ya que|depende|se)\b",
    I,
)
"""A prohibition with its reason holds longer than the task."""

_MUST = re.compile(
    r"^(?:all|every|each|no) (?!of (?:this|that|these|it)\b|(?:need|worries|problem|one|idea|way"
    r"|time)\b)[\w -]{2,60}?\b(?:must|needs?(?: to)?|has to|have to|may|is to be|are to be)\b"
    r"|^(?:\w+ ){1,4}(?:must|should) (?:never|always)\b"
    r"|^(?:tod[oa]s? l[oa]s?|cada|ningún|ninguna) [\w ]{2,60}?\b(?:debe(?:n)?|tiene(?:n)? que"
    r"|necesita(?:n)?|va(?:n)? en)\b",
    I,
)
_ABOUT_THINGS = re.compile(
    r"^(?:the|this|that|it|its|el|la|los|las|esto|eso|apparently|\w+ (?:says|claims"
    r"|told))\b.*\b(?:always|never|siempre|nunca)\s+(?:\w+s|\w+ed|returns?|gets?|was|were|is|are|ha"
    r"|había|devuelve|falla|da|sale|se)\b"
    r"|\bI (?:never|always) (?:\w+ed|got|get|forget|knew|see|saw|had|end up|mix)\b|\byou (?:always|never"
    r"|can always)\b(?! (?:use|run|write|put|add|commit|push|ask))|\bI've never\b|\bI'd never\b"
    r"|\b(?:error|docs?|documentation|message|log|story|spec|ticket|readme|article|issue|book"
    r"|comment)s?\b[^.]{0,30}\b(?:says?|claims?|states?|reads?|tells?)\b",
    I,
)
_VENTING = re.compile(
    r"^(?:ugh+|argh+|god|man|omg|gah|wow|uf+|jo|mann|putain)\b|[😀-🙏🤣🤦😂😅😭]|\b(?:so much|so bad|mondays"
    r"|my life|this so)\b.*[!.]?$"
    r"|\b(?:gonna|bright side)\b",
    I,
)
_THIRD_PERSON = re.compile(
    r"^(?:always|never) (?:null|empty|true|false|undefined|none|zero|red|green|fails?|happens|returns|works"
    r"|gets|shows"
    r"|finishes|ends|fires|reaches|loads|renders|(?!pass|press|process|discuss|focus|access|address|express"
    r"|cross|dismiss)"
    r"[a-z]+s)\b",
    I,
)
_AT_HAND = re.compile(
    r"\b(?:in|for|inside) this (?:function|test|file|case|loop|component|method|class|one|line|run|time)\b"
    r"|^(?:please )?(?:never|always) \w+ (?:that|this|it|them)\b",
    I,
)
_PASSING = re.compile(
    r"\b(?:that too|too, thanks|this (?:version|one|idea|approach)|the idea|that idea|how (?:you|this"
    r"|it)|what you|where this|it (?:when|a lot|so far)?)\b|\bI like (?:it|that|this)\b",
    I,
)

_RULES = (
    _ORDER,
    _HABIT,
    _MUST,
    _STANDING,
    _FOR_MY_THINGS,
    _HOW_TO_ANSWER,
    _IN_GENERAL,
    _CONVENTION,
    _KEEPS_OFF,
)


def preference(sentence: Sentence) -> str | None:
    """What a person likes or dislikes in general, or wants done always or never.

    >>> preference(Sentence("I prefer tabs over spaces in Go."))
    'I prefer tabs over spaces in Go.'
    >>> preference(Sentence("Nunca hagas push a main."))
    'Nunca hagas push a main.'
    >>> preference(Sentence("The server always returns 500 for an empty body."))
    >>> preference(Sentence("I like it, thanks!"))
    """
    text = sentence.text
    if sentence.is_question or len(text.split()) < 3 or _AT_HAND.search(text):
        return None
    if _ABOUT_THINGS.search(text) or PAST_EVENT.search(text) or _THIRD_PERSON.match(text):
        return None
    if _VENTING.search(text):
        return None
    liking = _LIKES.match(text)
    if liking:
        return None if _is_passing(liking["what"], text) else text
    return text if any(pattern.search(text) for pattern in _RULES) else None


def _is_passing(what: str, text: str) -> bool:
    """Whether only the thing at hand is liked."""
    hates_when = re.match(r"it when\b", what, I)
    return not hates_when and (
        len(what.split()) < 1 or bool(ANAPHORIC.match(what)) or bool(_PASSING.search(text))
    )
