"""Function words of languages that the program stems, folded; English and Spanish are in `stopwords`."""

from collections.abc import Mapping

from mcp_memory.text.stopwords import ENGLISH, SPANISH, listed

GERMAN = listed(
    """
    aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist da damit dann das
    dass dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort du
    durch ein eine einem einen einer eines er es etwas euch euer fur gegen gibt habe haben hat hatte hatten
    hier hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes
    kann kein keine keinem keinen keiner konnen man mein meine meinem meinen meiner mich mir mit nach nicht
    nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so soll sondern
    uber um und uns unser unsere unter vom von vor wann war waren warum was wegen weil welche welcher welches
    wem wen wenn wer werden wessen wie wieder wir wird wo wohin woher wurde wurden zu zum zur zwischen
    """
)

FRENCH = listed(
    """
    ai as au aucun aussi aux avec avoir avons c ca car ce ceci cela celle celui ces cet cette ceux chez
    combien comme comment d dans de des donc dont du elle elles en encore est et etaient etait ete etes etre
    eu eux fait ici il ils j je l la le les leur leurs lui ma mais me meme mes moi mon n ne ni nos notre nous
    on ont ou par parce pas pendant peu peut plus pour pourquoi qu quand que quel quelle quelles quels qui
    quoi s sa sans se ses si son sont sous sur t ta te tes toi ton tous tout toute toutes tres tu un une vers
    vos votre vous y
    """
)

PORTUGUESE = listed(
    """
    a ao aos aquela aquele aqui as ate com como da das de dela dele deles depois do dos e ela elas ele eles
    em entre era essa esse esta estao estava este eu foi foram ha isso isto ja la lhe mais mas me mesmo meu
    meus minha minhas muito na nao nas nem no nos nossa nosso num numa o onde os ou para pela pelas pelo
    pelos por porque qual quais quando quanto que quem sao se sem ser seu seus so sobre sua suas tambem tem
    tenho teu tu tua um uma voce voces
    """
)

ITALIAN = listed(
    """
    a abbiamo ad agli ai al alla alle allo anche avere aveva c che chi ci ci come con cosa cui da dagli dai
    dal dalla dalle dei degli del della delle dello di dove e ed era erano essere fra gli ha hanno ho i il in
    io l la le lei li lo loro lui ma mi mia mie miei mio ne negli nei nel nella nelle nello noi non nostra
    nostro o per perche piu quale quali quando quanti quanto quella quello questa queste questi questo qui
    se sei si sia siamo siete sono sta stato su sua sue sugli sui sul sulla suo suoi ti tra tu tua tuo tutti
    tutto un una uno vi voi
    """
)

DUTCH = listed(
    """
    aan al als altijd bij dan dat de deze die dit door doen dus een en er ge geen geweest haar had heb
    hebben heeft hem het hier hij hoe hun ik in is ja je jij jullie kan kunnen maar me meer met mij mijn na
    naar niet niets nog nu of om omdat ons onze ook op over te tegen toch toen tot u uit uw van veel voor
    waar waarom wanneer want waren was wat we wel welke werd wie wij wil worden wordt zal ze zich zij zijn zo
    zonder zou
    """
)

SWEDISH = listed(
    """
    alla allt att av blev blir da de dem den denna deras dess det detta dig din dina ditt dom du efter ej
    eller en er ett fran for ha hade han hans har henne hennes hon honom hur har i icke ingen inom inte ja jag
    kan kunde man med mellan men mig min mina mitt mot mycket nagon nagot nar ni nu och om oss pa sa sin sina
    sitt som till under upp ut vad var vara varfor vart vem vi vid vilken ar over
    """
)

DANISH = listed(
    """
    af alle alt anden at blev bliver da de dem den denne der deres det dette dig din dog du efter eller en
    end er et for fra ham han hans har havde hende hendes her hun hvad hvem hver hvilken hvis hvor hvordan
    hvornar i ikke ind jeg jer kan kunne man mange med meget men mig min mine mit mod nar ned noget nogle nu
    og om op os over pa sadan selv sig sin sine sit skal som til ud under var vi vil ville vores
    """
)

RUSSIAN = listed(
    """
    без был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее ей ему если
    есть еще же за здесь и из или им их к как какая какие какой когда которая которые который кто куда ли
    меня мне мной моя мои мой мое мы на над нас наш не него нее нет ни них но ну о об он она они от очень по
    под после почему при про с сам свой себя сколько со так также там те тебя то тоже только том ты у уже
    чего чем что чтобы эта эти это этот я
    """
)

FUNCTION_WORDS_OF: Mapping[str, frozenset[str]] = {
    "spanish": SPANISH,
    "german": GERMAN,
    "french": FRENCH,
    "portuguese": PORTUGUESE,
    "italian": ITALIAN,
    "dutch": DUTCH,
    "swedish": SWEDISH,
    "danish": DANISH,
    "russian": RUSSIAN,
}
"""By the name of the language, as Snowball has it."""

_NO_SIGN = listed(
    """
    am bad dem den die dog end for gut hat her hun kan las man men min mine mit mod op par pas per plus
    sans si sin sit son sur ta te ton tot van var vent vi war
    """
)
"""English words and names that mean nothing about a text's language."""

_OF_NEIGHBOURS = {"spanish": listed("les os dos no na"), "italian": listed("le"), "danish": listed("os")}
"""Words that a language has too, but that only another one has in nearly every sentence."""


def _signs() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for language, words in FUNCTION_WORDS_OF.items():
        for word in words - ENGLISH - _NO_SIGN - _OF_NEIGHBOURS.get(language, frozenset()):
            if len(word) > 1:
                found[word] = (*found.get(word, ()), language)
    return found


SIGNS = _signs()
"""The languages of each function word that tells a language from English."""
