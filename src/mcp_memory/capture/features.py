"""Surface features of a sentence: who speaks of what, how, and for how long it holds.

Closed classes of words in four languages. No feature decides alone: `weighing` adds them up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from mcp_memory.capture.lexicon import is_hearsay, is_name

Feature = Callable[[str], bool]


def _words(words: str) -> Feature:
    """A feature that matches any of the words."""
    found = re.compile(rf"(?<![\w'@.])(?:{words})(?!\w)", re.IGNORECASE)
    return lambda text: bool(found.search(text))


def _starts(words: str) -> Feature:
    found = re.compile(
        rf"\W*(?:(?:please|pls|bitte|por favor|just|and|so|then) )?(?:{words})(?!\w)", re.IGNORECASE
    )
    return lambda text: bool(found.match(text))


def _is_like(pattern: str) -> Feature:
    found = re.compile(pattern, re.IGNORECASE)
    return lambda text: bool(found.search(text))


def _is_short(text: str) -> bool:
    return len(text.split()) < 4


def _names_somebody(text: str) -> bool:
    """A capital within the sentence, or a name before a verb in the present."""
    first, _, rest = text.partition(" ")
    return bool(_CAPITAL.search(rest)) or (is_name(first) and bool(_PRESENT.match(rest)))


def _begins_with_an_order(text: str) -> bool:
    return bool(_ORDER.match(text))


_CAPITAL = re.compile(r"(?<![.!?:] )(?<![\w\"“'`])(?!I\b)[A-ZÁÉÍÓÚÑÄÖÜ][\wá-ÿ'-]*[a-zá-ÿ]")
_PRESENT = re.compile(
    r"(?:is|has|does|\w{2,}[^s\W]s|es|está|tiene|lleva|se|vive|trabaja|ist|hat|wohnt|arbeitet|est"
    r"|habite)\b"
)
_ORDER = re.compile(
    r"\W*(?:(?:please|pls|just|now|then|and|so|first|bitte|por favor|ahora|mal|yes|yeah|ok|okay),? )*"
    r"(?:add|apply|ask|build|call|change|check|clean|click|close|commit|compare|compile|convert"
    r"|copy|create"
    r"|debug|delete|deploy|describe|do|document|draft|drop|edit|explain|extract|figure|fill|find"
    r"|finish|fix"
    r"|format|generate|get|give|go|help|ignore|implement|import|insert|install|keep|leave|list|look"
    r"|make|merge"
    r"|mock|move|open|optimi[sz]e|paste|pick|plan|print|propose|pull|push|put|read|rebase|redo"
    r"|refactor|remove"
    r"|rename|replace|rerun|restart|retry|return|revert|review|rewrite|run|save|search|send|set"
    r"|show|shorten|simplify"
    r"|skip|sort|split|squash|start|stop|suggest|summari[sz]e|swap|switch|take|tell|test|translate"
    r"|try|turn|undo|update"
    r"|upgrade|use|verify|wait|wrap|write|zip"
    r"|abre|añade|arregla|ayúdame|borra|busca|cambia|comprueba|corrige|crea|cuenta|dame|dime"
    r"|ejecuta|elimina"
    r"|enséñame|escribe|explica|explícame|genera|guarda|haz|hazme|instala|lista|mira|mueve|muestra"
    r"|pasa|pon"
    r"|prueba|quita|quédate|revisa|sube|sigue|usa|vuelve"
    r"|erklär\w*|fass|gib|hilf|lass|lösch\w*|mach|nimm|prüf\w*|schau|schreib\w*|setz\w*|starte"
    r"|teste|zeig\w*|änder\w*"
    r"|affiche|ajoute|aide|change|corrige|crée|donne|enlève|explique|fais|lance|mets|montre\w*"
    r"|regarde|relance"
    r"|supprime|teste|vérifie|écris)(?:-moi)?\b(?!'|:| (?:is|are|has|was) )",
    re.IGNORECASE,
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTH = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre"
    r"|diciembre"
    r"|januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet"
    r"|août|septembre|octobre"
    r"|décembre"
)
_WEEKDAY = (
    rf"{_DAY}|lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|montags?|dienstags?|mittwochs?"
    r"|donnerstags?|freitags?|samstags?|sonntags?|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
)

FEATURES: Mapping[str, Feature] = {
    # What is asked of the memory itself.
    "asks to remember": _words(
        r"remember (?:that|this|my|our|the|we|I|,|:)|keep in mind|bear in mind|mind that|note that"
        r"|note(?: to (?:self|you))?\b.{0,12}:"
        r"|take (?:a )?note|make a note|memori[sz]e|don't forget (?:that|:)|reminder"
        r"|for (?:the record|the future|future \w+|next time)"
        r"|before I forget|heads[- ]?up|so you know|good to know|worth knowing|fyi|psa|for context"
        r"|you should know"
        r"|recuerda que|acuérdate de que|apunta|anota|ten en cuenta|tenlo en cuenta|toma nota"
        r"|que sepas|ojo|que no se te olvide"
        r"|no olvides que|para que (?:lo )?sepas|merk dir|denk dran|vergiss nicht|zur info"
        r"|notier\w*|beachte|retiens|note que|souviens-toi|n'oublie pas|pour info|sache que"
    ),
    "from now on": _words(
        r"from (?:now|here|today|this point) on(?:wards?)?(?: out)?|going forward|henceforth"
        r"|from here|in (?:the )?future|as of|starting (?:today|now|from|next)|effective"
        r"|(?:de|desde|a partir de) ahora(?: en adelante)?|en adelante|a partir de|ab (?:jetzt"
        r"|sofort|heute|nun)|von (?:nun|jetzt) an|künftig|in zukunft"
        r"|désormais|dorénavant|à partir de|dès maintenant"
    ),
    # How lastingly it holds.
    "standing": _words(
        r"always|never|ever|every|each|whenever|every ?time|any ?time|everywhere|anything"
        r"|by default|defaults?|in general|as a rule|the rule|rule of thumb|usually|normally"
        r"|without exception|no exceptions|all (?:the|our|my|of our)"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days|mornings|evenings|weekends|when (?:you"
        r"|it comes)|if you|for (?:any|all|every)|in any|nothing|no one|nobody"
        r"|siempre|nunca|jamás|cada|tod[oa]s l[oa]s|en tod[oa]s?|por defecto|por norma|cuando"
        r"|los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)"
        r"|immer|nie|niemals|jede[rsnm]?|grundsätzlich|standardmäßig|generell|überall|wenn du|alle"
        r"|toujours|jamais|chaque|tou(?:s|tes) les|par défaut|en général|partout|quand tu"
    ),
    "norm": _words(
        r"must(?:n't)?|ha(?:s|ve) to be|needs? to be|need to|needs|should(?:n't)?|shall|only|just"
        r"|no|without|allowed|forbidden|supposed to|has to|off[- ]limits|mandatory|required"
        r"|expects?|policy|convention"
        r"|debe[ns]?|hay que|tiene[ns]? que|va[ns]?|solo|sólo|nada de|sin|ningún|ninguna|prohibido"
        r"|muss|müssen|darf|dürfen|soll(?:en)?|nur|keine?[nrs]?|ohne|doit|doivent|faut|seulement"
        r"|uniquement|pas de|sans|aucune?"
    ),
    "forbids": _starts(
        r"don't|do not|dont|never|avoid|stop \w+ing|no|quit|not|skip|nada de|nunca|evita|deja de"
        r"|no (?:me|uses|hagas|pongas|toques|metas|mandes|escribas)"
        r"|keine?|nie|niemals|vermeide|pas de|jamais|ne|évite|arrête"
    ),
    "taste": _words(
        r"prefer(?:red|ence)?s?|I'd rather|rather you|hate|dislike|love|(?:I|we|would|don't|really"
        r"|he|she) like|likes|can't stand|annoy(?:s|ing)|drives me|fan of|favou?rite|old school"
        r"|picky|care about|want|wants|loathe|works (?:best|better) for me|my thing|suits me"
        r"|comfortable|into|good enough for me|easier for me|allergic to"
        r"|prefiero|preferimos|odio|detesto|me gusta[n]?|me encanta[n]?|me molesta[n]?|no soporto"
        r"|quiero|queremos|mejor|ich (?:mag|hasse|will|möchte)|lieber|bevorzuge|am liebsten|nervt"
        r"|je (?:préfère|déteste|veux|hais)|j'(?:aime|adore)|préfère|préférons|agace"
    ),
    "changed": _words(
        r"anymore|any more|no longer|not any|moved|changed|switched|renamed|replaced|took over"
        r"|takes over|taking over|left|joined|since|until|till|as of|used to|new|is now|are now"
        r"|it's now|now|retired|deprecated|dead|gone|migrated"
        r"|ya no|ahora es|ahora|cambi\w+|mud\w+|desde|hasta|nuev[oa]s?|quitamos|pasamos|sustituye"
        r"|nicht mehr|jetzt|seit|bis|neue[rsnm]?|umgezogen|gewechselt|ne \w+ plus|n'\w+ plus"
        r"|plus de|maintenant|depuis|jusqu'\w+|nouve\w+|viré|changé|déménag\w+"
    ),
    "lasting verb": _words(
        r"called|named|lives?|works?|owns?|belongs?|runs? (?:on|in|at|under|off)|uses?|using|hosted"
        r"|stored|based|located|handles?|maintains?|manages?|leads?|responsible|in charge|speaks?"
        r"|studies|teach(?:es)?|takes? (?:care|over)|reports to|deals? with|deploys?|comes? from"
        r"|goes? (?:to|by|on|through|out|like|under)|sits|points? to|listens|expires?|starts?|ends?"
        r"|closes|opens|restarts?|wiped|rotated?|reviews?|approves?|signs|has|have|got|costs?|pays?"
        r"|keeps?|stands for|means|contains?|supports?|requires?|depends|born|grew up|graduated"
        r"|play|plays|drives?|lands|leaves|takes|needs|wants|holds|on (?:version|python|node|postgres)"
        r"|se llama[n]?|llamo|vive[ns]?|vivo|trabaja\w*|trabajo|lleva[ns]?|corre|usa[ns]?|usamos"
        r"|está[ns]? en|tiene[ns]?|tengo|tenemos|pertenece|encarga|empieza|termina|caduca|cumple"
        r"|habla|hablo|nac[ií]\w*|guarda|guardamos|aloja|van con|se hace[ns]?|se \w+a[ns]?|soy|somos"
        r"|heiß\w*|wohn\w*|arbeite\w*|läuft|laufen|gehört|benutz\w*|nutz\w*|verwend\w*|hat|habe"
        r"|haben|liegt|kommt|kümmert|leite\w*|bestellt|s'appelle\w*|habit\w+|travaill\w+|tourne\w*"
        r"|appartient|utilis\w+|gère|s'occupe|ai|avons|ont|parle"
    ),
    "states what something is": _is_like(
        r"^\W*(?:(?:and|but|so|y|pero|also|und|aber|et|mais|well|ok|look|mira|oye),? )?(?:our|my"
        r"|the|mis?|nuestr[oa]s?|el|la|los|las|der|die|das|unser\w*|mein\w*|notre|nos|mon|ma|mes|le"
        r"|les|l'|(?-i:[A-ZÁÉÍÓÚÑ])(?!\w*ing\b)\w+|(?=\S{0,40}\d)[\w./-]{1,40}"
        r"|[\w.-]{1,40}(?= (?:is|es|ist|est) (?:my|our|mi|nuestr[oa]|mein|unser|mon|notre)\b))(?:\b"
        r"|')[^,;:!?]{0,70}?(?:\b|')(?:is|are|was|'s|s|has|es|son|está|están|era|ist|sind|war|hat"
        r"|est|sont|était)(?!\w)"
    ),
    "it is": _is_like(
        r"(?:^|[,;:.–—] *|\b(?:so|and|but|that|y|und|et) )(?:it's|it is|its|that's|they're"
        r"|those are|she's|he's|es|son|era|c'est|das ist|es ist|ce sont)\s+(?!\w+ing\b|not working"
        r"|fine|ok|good|great|nice|cool|possible|just|too|really|very|so|because|broken|wrong|right"
        r"|true|not (?:right|true)|about|hard)"
    ),
    "we are in or on": _is_like(
        r"\b(?:we're|we are|I'm|I am|estoy|estamos|ich bin|wir sind|je suis|on est)(?: now| still"
        r"| based)? (?:in|on|at|from|en|de|auf|bei|aus|à|sur|chez) (?!(?:it|this|that|a|the (?:same"
        r"|way|phone))\b)\S"
    ),
    "of the speaker": _words(
        r"I|I'm|I've|I'd|I'll|im|ive|my|mine|me|myself|yo|mi|mis|me|soy|tengo|vivo|estoy|ich"
        r"|mein\w*|mir|mich|je|j'\w+|mon|ma|mes|moi"
    ),
    "of a group": _words(
        r"we|we're|we've|we'll|our|ours|us|the team|my team|the company|nosotros|nuestr[oa]s?"
        r"|\w{2,}(?:amos|emos|imos)|el equipo|la empresa|wir|unser\w*|uns|nous|notre|nos|on (?:a"
        r"|est|utilise|fait|part|garde|passe|reste)|chez nous|l'équipe"
    ),
    "of a person": _words(
        r"(?:wife|husband|partner|girlfriend|boyfriend|fiancée?|son|daughter|kids?|child(?:ren)?"
        r"|baby|twins|mum|mom|dad|mother|father|parents|sister|brother|grand\w+|aunt|uncle|cousin"
        r"|niece|nephew|in-laws?|dog|cat|puppy|boss|manager|lead|colleague|coworker|client|customer"
        r"|supplier|accountant|landlord|doctor|dentist|vet|teacher|neighbou?r|friend|roommate"
        r"|intern|advisor|supervisor|cto|ceo|cfo|contact)(?:'s|s)?"
        r"|mujer|marido|pareja|novi[oa]|hij[oa]s?|niñ[oa]s?|madre|padre|herman[oa]|abuel[oa]"
        r"|perr[oa]|gat[oa]|jef[ea]|compañer[oa]|cliente|gestor|casero|médico|amig[oa]|proveedor"
        r"|suegr[oa]"
        r"|frau|mann|sohn|tochter|kinder|mutter|vater|schwester|bruder|oma|opa|hund|katze|chef\w*"
        r"|kolleg\w+|kunde\w*|freund\w*|steuerberater|femme|mari|fils|fille|enfants?|mère|père|sœur"
        r"|frère|chien|chat|collègue|client\w*|ami\w*|comptable"
    ),
    "of body or life": _words(
        r"allerg\w+|intoleran\w+|vegan\w*|vegetarian\w*|c(?:o)?eliac|diabet\w+|pregnant|asthma\w*"
        r"|dyslex\w+|adhd|colou?r[- ]?blind|deaf|left-handed|birthday|anniversary|married|divorced"
        r"|retired|born|years old|address|phone|salary|flight|passport|visa|medication|mg|diet"
        r"|gluten\w*|kosher|halal|wheelchair|time ?zone|pronouns?|handle|username|nickname"
        r"|alérgic[oa]|alergia|vegan[oa]|vegetarian[oa]|celíac[oa]|diabétic[oa]|embarazada"
        r"|cumpleaños|casad[oa]|dirección|teléfono|vuelo|años|zurd[oa]|schwanger|geburtstag"
        r"|verheiratet|jahre alt|adresse|zöliakie|végétarien\w*|enceinte|anniversaire|mariée?|ans"
    ),
    "names somebody or something": _names_somebody,
    "holds a value": _is_like(
        r"(?<![\w.])v?\d[\w.:,-]*|https?://|[\w.+-]+@[\w-]+|`[^`]+`|\b[\w-]+\.(?:py|ts|js|json"
        r"|ya?ml|toml|md|sh|sql|go|rs|com|org|net|io|dev|example)\b|\b[\w.-]+/[\w./-]+"
        r"|(?-i:\b[A-Z][A-Z0-9_]{2,}\b)|\b\w+_\w+\b|\b(?=\w*-)(?=[\w-]*\d)[\w-]+\b"
    ),
    "names a day": _words(
        rf"{_WEEKDAY}|{_MONTH}|\d{{1,2}}(?:st|nd|rd|th)|christmas|easter|summer|winter|spring"
        rf"|autumn|navidad|verano|weihnachten|sommer|noël|été"
    ),
    # Against something.
    "contrasts": _is_like(
        r"(?<!\w)(?:instead|rather than|not (?!sure|yet|what I|now\b|really|working|bad|only|just|going"
        r"|planning|the point|that\b|so\b|very|too)[\w`'\"./-]+|nor|over|vs|as opposed to|en (?:vez"
        r"|lugar) de|sino|y no|, no|nicht|sondern|statt|anstatt|pas|plutôt que|au lieu de)(?!\w)"
    ),
    "denies": _starts(
        r"no|nope|nah|wrong|not (?:quite|right|true)|that's (?:wrong|not|old|outdated)"
        r"|that is (?:wrong|not)|actually|correction|small correction|I disagree|hm+ no|wait,? no"
        r"|you(?:'ve| have)? (?:got|mixed|confused)|I (?:said|meant|told you)|like I (?:said|told)"
        r"|sorry,? I meant|"
        r"no no|en realidad|te equivocas|eso no|mal|nee|nein|doch|stimmt nicht|falsch|non|mais non"
        r"|c'est faux|en fait"
    ),
    # Decided, or left open.
    "decided": _words(
        r"decided|decision|cho(?:se|sen|osing)|picked|settled?|agreed|(?:going|go|went|sticking"
        r"|stick|stay|staying) (?:with|for|to|on)|we'll (?:use|keep|do|stay|drop|move|take)"
        r"|dropp(?:ed|ing)|fr(?:oze|ozen|eeze)|final(?:ly)?|verdict|ended up|opt(?:ed|ing)"
        r"|ruled out|signed off|approved|abandon\w*|scrapp?(?:ed|ing)?|kill(?:ed|ing)?|in the end"
        r"|after all|it is|the plan is|conclu\w+|commit(?:ted)? to|standardi[sz]\w+|adopt\w*"
        r"|reject\w*|postpon\w+|called off|cancel+ed|kept"
        r"|decidi\w+|decisión|acord\w+|eleg\w+|elij\w+|quedamos|quedo|nos quedamos|al final"
        r"|descart\w+|opt(?:amos|é|ado)|vamos (?:a usar|con)|se queda|beschlossen|entschieden"
        r"|entscheidung|bleiben bei|wir (?:nehmen|bleiben|machen)|einigten|geeinigt|on (?:part"
        r"|garde|reste|prend|passe)|décid\w+|choisi\w*|retenu|finalement|abandonn\w+"
    ),
    "gives a reason": _words(
        r"because|cause|cuz|since|otherwise|or else|so that|due to|thanks to|reason|turns out"
        r"|mostly|anyway|porque|ya que|si no|que es|por(?:que)?|debido|para que|weil|da|sonst|denn"
        r"|damit|wegen|parce que?|car|puisque|sinon|vu que|comme ça"
    ),
    "draws a consequence": _is_like(
        r"[,;–-] (?:so|hence|therefore|así que|por eso|also|deshalb|daher|donc|du coup)\b"
        r"|\bso (?:don't|please|no|only|keep|leave|use|that)\b"
    ),
    "still open": _words(
        r"still|yet|pending|left|leftover|remaining|unfinished|outstanding|hanging|open|hasn't"
        r"|haven't|later|tomorrow|tonight|next (?:week|month|sprint|time|year|release|\w+day)"
        r"|some ?(?:day|time|point)|eventually|by (?:the|end|next|\w+day|\d)|before (?:the|we"
        r"|friday|monday|I|\w+day|\d|v\d|release)|remind me|todo|to-do|follow[- ]?up|backlog"
        r"|on (?:the|my|our) list|waiting (?:for|on)|half[- ]done|unresolved|deadline|due|overdue"
        r"|soon|when I get|park(?:ed|ing)?|circle back|come back to|get back to|revisit"
        r"|(?<!hace )(?<!hacen )falta[n]?|pendientes?|queda[n]?|mañana|luego|más tarde|la semana que viene"
        r"|próxim[oa]"
        r"|todavía|aún|antes de|recuérdame|noch|morgen|später|nächste\w*|offen|bis|vor (?:dem|der)"
        r"|erinner\w*|encore|demain|plus tard|prochaine?|reste|avant|rappelle-moi|pas encore"
    ),
    "has a duty": _words(
        r"(?:I|we|I'll|we'll|someone|somebody|he|she|they|\w+)(?:'ve| have| still| also| really"
        r"| will)* (?:have to|has to|need to|needs to|got to|gotta|must|ought to|should)|have to"
        r"|need to|must|remind me|todo|to-do|hasn't|haven't|not (?:done|finished)|only half"
        r"|promised|supposed to"
        r"|tengo que|tenemos que|hay que|(?<!hace )falta|debo|debemos|recuérdame|pendiente|muss|müssen"
        r"|soll(?:te)?|erinner\w*|faut|dois|devons|rappelle|reste à"
    ),
    # What speaks against keeping it.
    "asks": _is_like(
        r"\?|\b(?:remind|tell|show) me (?:what|how|why|who|where|when|if|whether)\b|^\W*(?:what|why"
        r"|how|when|where|who|which|is|are|was|were|do|does|did|can|could|would|will|should|any|qué"
        r"|cómo|cuándo|dónde|quién|cuál|cuánt\w+|por qué|was|warum|wie|wann|wo|wer|welche\w*|kann"
        r"|könnte\w*|est-ce|pourquoi|comment|quand|où|qui|quel\w*|combien)\b(?! (?:you|it comes|I (?:say"
        r"|write|ask|talk|mention|mean))\b.*,)"
    ),
    "asks of you": _is_like(
        r"\b(?:can|could|would|will|do|did|are|have|should) (?:you|u|we|I)\b|\b(?:puedes|podrías"
        r"|kannst du|könntest du|peux-tu|tu peux)\b"
    ),
    "orders": _begins_with_an_order,
    "supposes": _words(
        r"if|would|wouldn't|could|might|imagine|suppose|assum\w+|pretend|what if|let's say"
        r"|hypothetic\w+|wish|were to|in case|example|e\.g|si|quizás?|tal vez|podría\w*"
        r"|imagin\w+|supong\w*|ojalá|wenn|würde\w*|könnte\w*|vielleicht|falls|angenommen|peut-être"
        r"|imagine|supposons|pourrait"
    ),
    "hedges": _words(
        r"think|thinking|guess|maybe|perhaps|probably|idk|dunno|seems?|looks like|not sure|unsure"
        r"|wonder(?:ing)?|suppose|feel like|kind of|kinda|sort of|apparently|afaik|iirc|I believe"
        r"|no idea|I bet|curious|consider(?:ing)?|creo|parece|supongo|no sé|ni idea|a lo mejor"
        r"|glaube|denke|scheint|vermute|keine ahnung|je (?:crois|pense)|on dirait|je sais pas"
    ),
    "points at hand": _words(
        r"(?:this|these|those) (?!repo|project|code ?base|company|team|house|household|family"
        r"|org)\w+|that (?:one|thing|function|file|test|line|part|bit|case)|above|below|the (?:diff"
        r"|first|second|third|last|next|other|same|output|result|snippet|screenshot|attached"
        r"|following|rest)|it (?:to|in|at|from|into|up)|est[eao]s? (?!repo|proyecto|empresa|equipo"
        r"|casa)\w+|es[eao] \w+|diese[rsmn]?|c(?:et|ette|es) \w+"
    ),
    "begins by pointing": _starts(
        r"it|this|that|these|those|they|there|esto|eso|ese|esa|hay|es|das|ça|ce|cela|il y a"
    ),
    "trouble": _words(
        r"error\w*|fail\w*|broken?|breaks?|crash\w*|bugs?|buggy|slow\w*|weird\w*|strange|stuck"
        r"|undefined|null|nan|doesn't work|not working|didn't work|won't|wrong|missing|timeout"
        r"|times? out|hangs?|hanging|flaky|exception|traceback|red|warning\w*|issue|problem"
        r"|complain\w*|throws?|returns?|getting|seeing|leak\w*|keeps \w+ing|falla\w*|roto|rota"
        r"|errores|no funciona|problema|va mal|lent[oa]|raro|fehler|kaputt|geht nicht|langsam"
        r"|komisch|erreur|plante|marche pas|bizarre|lente?"
    ),
    "comments": _words(
        r"good|great|nice|perfect|thanks|thank you|thx|cool|awesome|amazing|better|worse|lgtm"
        r"|well done|exactly|looks|love it|like it|fine|neat|wow|beautiful|interesting|funny|crazy"
        r"|gracias|genial|perfecto|bien|guay|danke|super|gut|schön|merci|parfait|bien"
    ),
    "of the moment": _words(
        r"right now|at the moment|today|tonight|for now|currently|this (?:time|week|morning"
        r"|afternoon|evening|once)|brb|afk|a sec|a minute|hold on|one moment|hoy|por ahora"
        r"|ahora mismo|un momento|heute|gerade|im moment|aujourd'hui|pour l'instant|en ce moment"
    ),
    "reports others": is_hearsay,
    "others say": _words(
        r"says?|said|told|claims?|wrote|writes|according|asked|thinks|believes|dice[ns]?|dijo"
        r"|dijeron|según|sagt\w*|meint|laut|dit|disent|selon"
    ),
    "parts of code": _words(
        r"(?:function|variable|button|line|loop|class|method|column|row|header|footer|component"
        r"|test(?! (?:account|server|db|database|env\w*|user|cluster|system))|snippet|query|regex"
        r"|script|array|string|output|input|import|module|label|screen|paragraph|sentence|diff"
        r"|modal|checkbox|parameter|argument)s?|función|botón|línea|clase|método|columna|párrafo"
        r"|funktion|zeile|knopf|überschrift|fonction|bouton|ligne|tableau"
    ),
    "needs something now": _is_like(
        r"\bI(?:'d)? (?:need|want|like)(?: you)? (?:to|a|an|some|you|help|the)\b|\b(?:necesito"
        r"|brauche|j'ai besoin|quiero (?:un|una|ver|que me|\w+[aei]r))\b"
    ),
    "suggests": _is_like(r"(?:^|, )(?:let's|lets|let me|how about|veamos|lass uns|allons)\b"),
    "is short": _is_short,
    "has a list or a colon": _is_like(r":\s+\w"),
}


def seen_in(text: str) -> set[str]:
    """The names of the features that hold."""
    return {name for name, holds in FEATURES.items() if holds(text)}
