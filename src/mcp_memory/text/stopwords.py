"""Function words of English and Spanish, folded; they carry no topic."""


def listed(words: str) -> frozenset[str]:
    """The words of a text, as tables of words are written here."""
    return frozenset(words.split())


# "may" and "us" are left out: a month and a country are asked for by name.
ENGLISH = listed(
    """
    a about above after again against all also am an and any are aren arent as at be because been
    before being below between both but by can cannot cant could couldnt d did didnt do does doesnt
    doing don done dont down during each either else ever few for from further get gets got had hadnt
    has hasnt have havent having he her here hers herself him himself his how however i if in into is
    isnt it its itself just let lets ll m me more most much must my myself neither no nor not of off
    on once only or other our ours ourselves out over own please re s same shall she should shouldnt
    so some such t than that the their theirs them themselves then there these they this those
    through to too under until up upon ve very was wasnt we were werent what when where whether which
    while who whom whose why will with without wont would wouldnt yes yet you your yours yourself
    yourselves
    """
)

# Left out because English means something by them: son, sin, hay, tan, era, van, sea, pues.
SPANISH = listed(
    """
    al algo algun alguna algunas alguno algunos ante antes aquel aquella aquellas aquello aquellos
    aqui asi aun aunque cada como con contra cual cuales cualquier cuando cuanto cuantos cuya cuyo de
    del desde donde dos durante e el ella ellas ello ellos en entonces entre eras eres es esa esas
    ese eso esos esta estaba estaban estado estamos estan estar estas este esto estos estoy fue fueron
    fui ha haber habia habian hace hacer hacia han has hasta he hemos hubo la las le les lo los mas
    me mi mia mientras mio mis misma mismas mismo mismos mucha muchas mucho muchos muy nada ni ningun
    ninguna ninguno no nos nosotras nosotros nuestra nuestras nuestro nuestros nunca o os otra otras
    otro otros para pero poca pocas poco pocos por porque puede pueden que quien quienes se segun ser
    si sido siempre sino sobre sola solo somos soy su sus suya suyo tal tambien tampoco tanto te
    tenemos tener tengo ti tiene tienen toda todas todavia todo todos tras tu tus tuya tuyo u un una
    unas uno unos usted ustedes vosotras vosotros vuestra vuestro y ya yo
    """
)

FUNCTION_WORDS = ENGLISH | SPANISH

WORDS_OF_REQUESTS = listed(
    """
    across aspect aspects bring brought chat chats clear comprehensive conversation conversations
    describe detail details detailed different discuss discussed discussion discussions everything
    explain give history item items list mention mentioned message messages order overview recall
    recap remember session sessions summarise summarize summary talk talked tell throughout topic
    topics various walk
    aspectos conversacion conversaciones cuenta describe dime explica lista mencionado mensajes
    orden resumen resumeme temas
    """
)
"""Words that only frame a request (`list the order in which I brought up different aspects of …`)."""

NOT_ENGLISH = (
    SPANISH
    | listed(
        """
        der die das und ist nicht ein eine einen dem den wie wann wo wer ich sie wir ihr auf mit fur von
        zum zur le les des du est une et dans pour qui que quoi quand ou avec sur pas je nous vous ils elle
        il au aux os um uma em na nos nas dos das com por quem onde quando nao sao lo gli di che chi dove
        sono per con una nel della degli dei het een en niet van wat wie waar zijn voor op
        """
    )
) - ENGLISH
"""Function words of Spanish, German, French, Portuguese, Italian and Dutch that English does not have."""

WORDS_OF_NOTES = listed(
    """
    like made make makes need needs used user users uses using well
    ahora bien cosa cosas debe deben decir dice dicho forma hecho luego mejor menos modo parte poder
    quiere usando usar usuario usuarios vamos
    """
)
"""Too common in notes to distinguish topics."""
