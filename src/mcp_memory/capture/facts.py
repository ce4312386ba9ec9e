"""The rules for facts about people, names, places, accounts and environments."""

from __future__ import annotations

import re

from mcp_memory.capture.lexicon import PROPER, I, is_fleeting, is_name, names_a_value
from mcp_memory.capture.speech import Sentence

_SELF = re.compile(
    r"\b(?:(?:I'm|I am|this is|soy) (?-i:[A-Z][a-zá-ÿ]+)(?:,| from| and I|\.? (?:de|y)) (?:an? |the "
    r"|our )?[\w-]{3,}"
    r"|my (?:full |first |last )?name(?:'s| is)|I(?:'m| am) called|call me [A-Z]|my pronouns are|"
    r"I (?:live|grew up|reside|study|studied|graduated|teach|speak|commute) (?:in|at|near|with|as|from"
    r"|to|\w+ish|(?-i:[A-Z]))|I (?:was born|come from|moved (?:to|from|into)|relocated to|just moved to)|"
    r"I(?:'ve| have) been (?:an? )?(?:vegan|vegetarian|pescatarian|sober|married|divorced|self-employed"
    r"|a member) |"
    r"I(?:'ve| have) (?:just |recently )?(?:moved to|lived in|been living in|worked (?:at|for|as)"
    r"|been working (?:at|for|as))|"
    r"I(?:'m| am) (?:from|based in|living in|married|divorced|single|retired|allergic|vegetarian|vegan"
    r"|pescatarian|diabetic|lactose|colou?r[ -]?blind|deaf|left-handed|dyslexic|pregnant|\d+ years old"
    r"|learning (?-i:[A-Z])\w+|studying (?:at|for|\w+ at)|originally from)|"
    r"I work (?:at|for|as|in|remotely|from|monday|part|full|nights|with the)\b|"
    r"I (?:lead|run|manage|head|own|maintain|founded) (?:the|a|an|our|my)\b|"
    r"me llamo|mi nombre es|vivo (?:en|con)|nací en|soy de [A-Z]|trabajo (?:en|para|de|como|desde)"
    r"|me (?:he mudado|mudé|mudo) a|estudi[oé] (?:en|en la|\w+)|estoy casad[oa]|soy alérgic[oa]"
    r"|soy (?:vegan[oa]|vegetarian[oa]|celíac[oa]|diabétic[oa]|zurd[oa])|hablo \w+)\b",
    I,
)
_ROLE = re.compile(
    r"\bI(?:'m| am) (?:a|an|the|one of the) (?!(?:bit|little|fan|lot|huge|big fan|tad|idiot"
    r"|moron)\b)(?:[\w-]+ ){0,4}?"
    r"(?:\w*(?:engineer|developer|designer|scientist|analyst|manager|teacher|nurse|doctor|student|lawyer"
    r"|architect|researcher|writer|consultant|freelancer|founder|lead|owner|admin\w*|accountant"
    r"|programmer|professor|director|"
    r"maintainer|journalist|translator|photographer|musician|chef|pilot|mechanic|physicist|biologist"
    r"|chemist|economist|librarian|carpenter|farmer|therapist|dentist|pharmacist|intern|contractor"
    r"|parent|dad|mum|mom|father|mother))\b"
    r"|\bsoy (?:(?:un|una|el|la) )?(?:ingenier[oa]|programador[a]?|desarrollador[a]?|diseñador[a]?"
    r"|médic[oa]|enfermer[oa]|profesor[a]?|maestr[oa]|estudiante|abogad[oa]|arquitect[oa]|analista"
    r"|periodista|autónom[oa]|jefe|jefa|director[a]?|traductor[a]?|científic[oa]|contable"
    r"|investigador[a]?)\b",
    I,
)
_KIN = (
    r"grandma|grandpa|granny|nan|in-laws|stepson|stepdaughter|twins|vet|wife|husband|partner|girlfriend"
    r"|boyfriend|fianc[ée]e?|son|daughter|kids?|children|child|mother"
    r"|father|mum|mom|dad|sister|brother|parents|grandmother|grandfather|aunt|uncle|cousin|nephew|niece|"
    r"dog|cat|boss|manager|team ?lead|skip-level|mentor|colleague|co-?founder|flatmate|roommate|landlord"
    r"|neighbou?r|friend|doctor|accountant|lawyer|teacher|therapist"
)
_OWN = (
    r"birthday|time ?zone|(?:github|gitlab|twitter|slack|discord|user)[ -]?(?:handle|name|account|user)?"
    r"|handle|username|e-?mail(?: address)?|phone(?: number)?|address|laptop|machine|computer|car|bike"
    r"|company|employer|team|job|title|"
    r"native language|mother tongue|nationality|hometown|city|degree|salary|budget|shoe size|size"
    r"|blood type|passport|pronouns|working hours|office"
)
_KIN_ES = (
    r"mujer|esposa|marido|esposo|pareja|novi[oa]|hij[oa]s?|madre|padre|herman[oa]|padres|abuel[oa]"
    r"|tí[oa]|prim[oa]|sobrin[oa]|perr[oa]|gat[oa]|jef[ea]|compañer[oa]|amig[oa]|vecin[oa]|médic[oa]"
    r"|casero|casera"
)
_OWN_ES = (
    r"cumpleaños|correo|teléfono|móvil|dirección|portátil|ordenador|coche|empresa|equipo|trabajo"
    r"|zona horaria|usuario|nacionalidad|ciudad|horario"
)
_MINE = re.compile(
    rf"\b(?:my|our) (?:\w+ )?(?:{_KIN})(?:,? {PROPER})?(?:,)?(?:'s)?(?: name)?(?: is| are|'s| was| has"
    rf"| have| works?| lives?| moved| likes?| loves?| hates?| turns?| speaks?| studies| just| lives"
    rf"|, (?:she|he|they)(?:'s| is| are| has| works| lives))\b"
    rf"|\bmy (?:\w+ )?(?:{_OWN})(?: \w+)? (?:is|are)\b|\bfor my (?:{_KIN}) {PROPER}\b"
    rf"|\bmis? (?:{_KIN_ES})(?: {PROPER})?,? (?:se llaman?|es|está|son|tiene|trabaja|vive|cumple"
    rf"|habla)\b|\bmi (?:{_OWN_ES})(?: de \w+)? (?:es|está|son)\b",
    I,
)
_HAVE = re.compile(
    rf"\b(?:I|we) have (?:a|an|one|two|three|four|five|\d+|twin) (?:\w+ )?(?:{_KIN}|dogs|cats|sons"
    rf"|daughters|brothers|sisters|developers|engineers|people|employees|offices|environments|clusters"
    rf"|servers|repos?|repositories|teams|customers)\b"
    rf"|\b(?:tengo|tenemos) (?:un|una|dos|tres|cuatro|\d+) (?:{_KIN_ES}|perros|gatos|hijos|hijas"
    rf"|oficinas|servidores|entornos)\b"
    r"|\bwe(?:'re| are) (?:a team of |a group of )?(?:two|three|four|five|six|seven|eight|nine|ten"
    r"|\d+)(?: \w+)? (?:people|developers|engineers|persons|in the team|of us)\b|\bsomos (?:dos|tres"
    r"|cuatro|cinco|\d+)(?: \w+)? (?:personas|desarrolladores|en el equipo)\b",
    I,
)
_SO = re.compile(
    r"^(?:I(?:'m| am| don't| can't| cannot| only) (?!\w+ing\b)|my [\w ]{2,30} (?:is|are|has|can't) "
    r"|we(?:'re| are) (?!\w+ing\b))"
    r".{2,80}?,? so (?:please )?(?:don't|do not|leave|avoid|skip|keep|no|nothing|swap|make sure|stick"
    r"|give|never|always|that's out|\w+ is out)\b"
    r"|^I (?:can't|cannot|don't|never) (?:eat|drink|drive|own|speak|smoke|do (?:mornings|evenings|calls"
    r"|mondays|fridays))\b"
    r"|^I (?:play|ride|run|take|weigh|start|finish|wake up|commute|train|sing) (?:\w+ ){0,3}(?:on|every|at"
    r"|in|mg|kg|for)\b"
    r"|^I(?:'m| am) (?:off|out|in the office|at work|available|busy) (?:on |every )?(?:mon|tues|wednes"
    r"|thurs|fri|satur|sun)"
    r"|^I(?:'m| am) (?:training for|learning|studying|writing a|building a|saving for|expecting)\b"
    r"|^I've (?:got|had) an? \w+"
    r" (?:allergy|dog|cat|son|daughter|kid|condition|job|bad (?:back|knee))\b|^I've been an? .{3,30} for \d+"
    r"|^(?:soy|tengo|no (?:como|bebo|tengo|puedo)) .{2,60}, ?(?:así que|tenlo|ten en cuenta|por eso)\b"
    r"|^(?:ich (?:bin|habe|kann|esse|trinke)|je (?:suis|n'ai pas|ne mange|ne bois)) .{2,60}, ?(?:also"
    r"|deshalb|donc)\b",
    I,
)
_CONDITION = re.compile(
    r"\b(?:I'm|I am|soy|ich bin|je suis) (?:an? |un |une |eine? )?(?:c(?:o)?eliac|celíac[oa]|vegan\w*"
    r"|vegetari\w+"
    r"|végétari\w+|pescatarian|diab[eé]ti\w+|diabétique|allerg\w+|alérgic[oa]|lactose|colou?r[ -]?blind"
    r"|deaf|sordo"
    r"|dyslexi\w+|left-handed|zurd[oa]|pregnant|embarazada|schwanger|enceinte)",
    I,
)
_LIVES = re.compile(
    r"\b(?:we're|we are|I'm|I am|estoy|estamos) (?:based |now )?(?:in|at|en) (?-i:[A-ZÁÉÍÓÚ])\w+"
    r"|\bj'habite\b|\bnous habitons\b|\bje (?:travaille|vis) (?:à|chez|comme|en)\b|\bje m'appelle\b"
    r"|\bich (?:wohne|arbeite|lebe|komme aus|heiße)\b|\bwir (?:wohnen|sitzen|leben) in\b"
    r"|\b(?:meine?|mein|unsere?|mon|ma|mes|notre) [\wäöüß-]+ (?:heißt|heissen|ist|s'appelle|est|hat|a|wohnt"
    r"|habite)\b",
    I,
)
_CALLED = re.compile(
    r"^(?:(?:en|in|at|bei|chez) [\w ]{2,30}?,? )?(?:el|la|los|las|mis?|nuestr[oa]s?|the|our|my|der|die|das"
    r"|meine?|unsere?|le|la|les|notre|mon"
    r"|ma) .{2,50}?"
    r" (?:se llaman?|heißt|heißen|s'appellent?|(?:is|are) (?:called|named))\b",
    I,
)
_POSSESSED = re.compile(
    r"^(?:the |our |my )?(?!it|that|what|here|there|let|who|she|he|where|how"
    r"|when)[\w-]+'s (?:[\w-]+ ){0,3}?(?:is|are"
    r"|was|runs?|lives?)\b",
    I,
)
_BELONGS = re.compile(
    r"^(?:ask|talk to|ping|contact|pregunta a|habla con|frag) (?-i:[A-ZÁÉÍÓÚ])\w+ (?:about|for|if|when|por"
    r"|de|sobre|si|wegen)\b"
    r"|^(?:the )?(?:[\w-]+ ){0,2}(?:credentials|creds|docs|logs|backups?|sources?|designs?|mockups|repo"
    r"|code|minutes|invoices"
    r"|contracts?|keys?|recordings?|slides) (?:is|are|live|lives|sit|go|run|runs) (?:in|on|at|under|every"
    r"|to)\b"
    r"|^(?:stand-?up|retro|payday|demo|release|the (?:deadline|meeting|review|call|launch|release|demo)"
    r"|deploys?|backups?)"
    r" (?:is|are|run|runs|happen|happens|starts?) (?:at|on|every|in|now|moved)\b"
    r"|^[\w./-]+ is (?:my|our) (?:personal|private|work|production|prod|staging|test|main|old|new|shared)\b"
    r"|\b(?:belongs? to|is owned by|is (?:run|managed|maintained|handled) by|is the only one who"
    r"|pertenece a|gehört"
    r"|appartient à|lo tiene|la tiene|lo lleva|la lleva) (?-i:[A-ZÁÉÍÓÚ])?\w+"
    r"|\b(?:runs on|corre en|läuft auf|tourne sur|is hosted (?:on|at)|está en) (?-i:[A-ZÁÉÍÓÚ])\w+"
    r"|\b(?:kids?|sons?|daughters?|children|twins|hij[oa]s?|niñ[oa]s?)\b.*\b(?:is|are|they're|he's|she's"
    r"|tienen?) \d",
    I,
)
_CHANGES = re.compile(
    r"\bmy (?:[\w-]+ ){1,3}(?:has |just )?(?:changed|moved)\b|\bI(?:'ve| have)? (?:just |recently )?moved\b"
    r"|\b(?-i:[A-ZÁÉÍÓÚ])[\wá-ÿ]+ (?:se va|deja|leaves|is leaving|starts|quits|is (?:out|away|off|on leave)"
    r"|takes over"
    r"|replaces|is replacing|sustituye|empieza|geht|übernimmt|part|arrive) (?:en|in|on|from|until|till|the"
    r"|by|for|am|im"
    r"|ab|de|desde|el|hasta|du|le)\b",
    I,
)
_DEVICE = re.compile(
    r"\bI(?:'m| am) (?:on|using|running) (?:an? )?(?:macOS|windows|linux|ubuntu|fedora|debian|arch|nixos"
    r"|android|iphone|a mac|wsl|an? m\d|mac)\b"
    r"|\bI (?:use|own|drive) (?!.*\b(?:here|this|in the)\b)(?:an? |my )?(?:old |new )?[A-Z]\w+|\b(?:uso"
    r"|tengo) un(?:a)? (?:portátil|ordenador|mac|móvil|coche|pc)\b",
    0,
)
_PLACE = (
    r"production|prod|staging|stage|dev|test(?:ing)?|qa|preview|demo|sandbox|live|build|ci|db|database"
    r"|data ?base|cluster|server|servers|machine|host|vm|bucket|repo(?:sitory)?(?:'s)?|registry|domain"
    r"|dns|namespace|channel|branch|backup|nightly backup|"
    r"endpoint|environment|account|customer|client|project|product|company|office|website|site|dashboard"
    r"|queue|vpn|firewall|cdn|monitoring|wiki|board|tracker|tenant|subscription|license|contract|sprint"
    r"|release|stand-?up|retro|meeting|fiscal year|rate limit|"
    r"api|gateway|app|service|pipeline|runner|scheduler|cron ?jobs?|mailing list|port|region|cto|ceo|cfo"
    r"|product owner|team lead|scrum master|dba|admin|maintainer|on-?call|budget|deadline|stack|package"
    r"|library|module|monorepo|token|certificate|key rotation"
)
_PLACE_ES = (
    r"servidor(?:es)?|contenedor|entorno|base de datos|cluster|clúster|máquina|repositorio|dominio|canal|rama"
    r"|copia de seguridad|cuenta|cliente|proyecto|empresa|oficina|web|panel|cola|equipo|producto"
    r"|reunión|api|puerto|región|directora?|responsable|servicio|aplicación"
)
_IS = (
    r"(?:is|are|lives?|runs?|sits|starts?|ends?|goes|go|uses?|points|listens|resides|belongs|'s"
    r"|expires?|closes|opens|is called|is named|(?:is|are|was|were) (?:rotated|hosted|registered"
    r"|stored|deployed|owned|managed|built|maintained|run|written))"
)
_IS_ES = (
    r"(?:es|son|está|están|corre|se llama|vive|usa|empieza|termina|va|apunta|escucha|pertenece|caduca"
    r"|cierra|se aloja)"
)
_WORK = (
    r"regex|query|code|script|function|array|list|string|output|input|error|loop|class|tests?|program"
    r"|dataframe|table|column"
    r"|question|problem|issue|idea|guess|plan|point|understanding|impression|goal|fault|bad|mistake"
    r"|favou?rite part|turn|answer"
)
_ENVIRONMENT = re.compile(
    rf"^(?:our|my) (?!\w* ?(?:{_WORK})\b)(?:[\w'-]+ ){{1,6}}?{_IS}\b|^(?:our|the"
    rf"|this) (?:[\w'-]+ ){{0,4}}?(?:{_PLACE})(?:'s)?(?: [\w'-]+){{0,5}}? {_IS}\b"
    rf"|^(?:nuestr[oa]s?|el|la|los|las|este"
    rf"|esta) (?:\w+ ){{0,3}}?(?:{_PLACE_ES})(?: [\wáéíóúñ]+){{0,5}}? {_IS_ES}\b",
    I,
)
_WE_USE = re.compile(
    r"^(?:here )?(?:we|this (?:project|repo|codebase|app)|our \w+|the \w+ team) (?:use|uses|run|runs"
    r"|host|hosts|deploy|deploys|are on|store|stores|work with|are using) (?!(?:this|that|it|the same"
    r"|the wrong|a)\b)"
    r"|^(?:usamos|utilizamos|trabajamos con|desplegamos (?:en|con)) ",
    I,
)
_SOMEBODY = re.compile(
    rf"^(?P<who>{PROPER})(?: {PROPER})? (?:maintains|owns|leads|manages|handles|looks after"
    rf"|is responsible|is in charge|takes care|is (?:(?:our|my|the) (?:new |current |former )?(?:product"
    rf"|project|team|tech|lead|head|person|maintainer|owner|cto|ceo|boss|manager|colleague|designer"
    rf"|client|contact|wife|husband|partner|son|daughter|sister|brother|friend|dog|cat|landlord"
    rf"|accountant|doctor|\w+ (?:server|cluster|database|machine|host)))|"
    r"runs (?:on|in|at)|lives (?:on|in|at|under)|is (?:on|at|under|called|allergic|from|based|married)"
    r"|works (?:at|for|as|on|in|nights|remotely)|does (?:frontend|backend|design|the)|reports to"
    r"|left the|joined|(?:will|is) (?:be )?on (?:leave|holiday)|"
    r"(?:is|was) the (?:one|person|guy|woman|man|only one) (?:who|that|with|to)|is (?:leaving|joining"
    r"|retiring|pregnant"
    r"|vegan|vegetarian|\d+)|has (?:the|a|an|two|three|\d+) \w+|turns? \d+|moved to|signs off|approves"
    r"|reviews|wrote the|built the|knows the|has (?:access|admin|the keys?)|"
    r"lleva|mantiene|dirige|gestiona|se encarga|es (?:nuestr[oa]|mi|el|la)|corre en|vive en"
    r"|trabaja (?:en|de|como|para)|está de (?:baja|vacaciones))\b"
)
_HYPOTHETICAL = re.compile(
    r"\b(?:if|suppose|imagine|would|could|might|maybe|perhaps|pretend|e\.g|for example|say,|si|quizás?"
    r"|supongamos|por ejemplo|as an? \w+ I (?:want|need))\b",
    I,
)
_LEARNED = re.compile(
    r"\b(?:turns|turned) out (?:that )?(?:you|we|I) (?:have|had|need|needed) to\b"
    r"|\bthe (?:fix|trick|solution|workaround) (?:is|was) (?!(?:wrong|bad|simple|easy|obvious|ugly|not)\b)"
    r"|\bthe (?:reason|root cause|cause|culprit) (?:it|we|they|for|why|of|was|is)\b"
    r"|\bwhat (?:helped|fixed it|did the trick|worked) (?:is|was)\b"
    r"|\b(?:resulta(?:ba)?|resultó) que (?:hay|había|tenía|tenías) que\b|\b(?:se arregló|se arregla"
    r"|se solucionó)"
    r" (?:con|al|cuando|\w+ando|\w+iendo)\b|\bla solución (?:es|era|fue)\b",
    I,
)
_OPINION = re.compile(
    r"\b(?:I think|I guess|I believe|I suppose|I feel|seems?|looks? like|probably|creo que|parece"
    r"|my guess|mi duda|me temo|supongo)\b",
    I,
)
_TOLD = re.compile(r"\b(?:says?|said|claims?|reads?|writes?|dice|dijo|according to|según)\b", I)
_GUSHING = re.compile(
    r"(?<!,) so (?:\w+ed|much|happy|proud|glad|nice|cute)\b|\b(?:super|really|very|pretty|such|feels?"
    r"|excited|amazing|awesome|great|bummer|tough|wonderful)\b",
    I,
)
_LASTING = re.compile(
    r"\b(?:allergic|works?|lives?|studies|name|called|born|moved|speaks?|birthday|nurse|doctor|teacher"
    r"|llama|vive|trabaja|alérgic[oa]|cumple\w*)\b",
    I,
)
_AT_HAND = re.compile(
    r"\b(?:function|method|class|variable|button|line|loop|test case|output|input|component|page|screen"
    r"|column|row|label|icon|"
    r"función|método|clase|variable|botón|línea|columna|página)\b",
    I,
)


def about_oneself(sentence: Sentence) -> str | None:
    """Who the person is, where they live and work, their family and devices.

    >>> about_oneself(Sentence("My name is Priya and I lead the platform team."))
    'My name is Priya and I lead the platform team.'
    >>> about_oneself(Sentence("Vivo en Valparaíso con dos gatos."))
    'Vivo en Valparaíso con dos gatos.'
    >>> about_oneself(Sentence("I'm getting a 403 from the endpoint."))
    """
    text = sentence.text
    if not _is_statement(sentence):
        return None
    patterns = (_SELF, _ROLE, _HAVE, _DEVICE, _SO, _CONDITION, _LIVES, _CHANGES)
    if is_fleeting(text) or _GUSHING.search(text):
        return None
    is_mine = _MINE.search(text) and (names_a_value(text) or _LASTING.search(text))
    return text if is_mine or any(pattern.search(text) for pattern in patterns) else None


def environment(sentence: Sentence) -> str | None:
    """How the systems, the organisation and the dates of a project are.

    >>> environment(Sentence("Our production cluster is called walrus and runs in Frankfurt."))
    'Our production cluster is called walrus and runs in Frankfurt.'
    >>> environment(Sentence("The server is slow."))
    """
    text = sentence.text
    if not _is_statement(sentence) or is_fleeting(text) or _AT_HAND.search(text):
        return None
    patterns = (_ENVIRONMENT, _WE_USE, _POSSESSED)
    is_known = any(pattern.match(text) for pattern in patterns) and names_a_value(text)
    return text if is_known or _CALLED.match(text) or _BELONGS.search(text) else None


def learned(sentence: Sentence) -> str | None:
    """What helped, told in words.

    >>> learned(Sentence("Turned out I had to run the seeds before the models."))
    'Turned out I had to run the seeds before the models.'
    >>> learned(Sentence("The fix was wrong."))
    """
    text = sentence.text
    is_told = _is_statement(sentence) and len(text.split()) > 5 and not _AT_HAND.search(text)
    return text if is_told and _LEARNED.search(text) else None


def about_others(sentence: Sentence) -> str | None:
    """What a named person does, or where a named system is.

    >>> about_others(Sentence("Tomás maintains the iOS app."))
    'Tomás maintains the iOS app.'
    >>> about_others(Sentence("It runs on my machine."))
    """
    text = sentence.text
    found = _SOMEBODY.match(text)
    if not found or not _is_statement(sentence) or is_fleeting(text):
        return None
    return text if is_name(found["who"]) else None


def _is_statement(sentence: Sentence) -> bool:
    text = sentence.text
    return not (
        sentence.is_question or _HYPOTHETICAL.search(text) or _OPINION.search(text) or _TOLD.search(text)
    )
