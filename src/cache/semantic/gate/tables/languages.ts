/** The commonest words of 20 languages, which tell a text's language by a vote. */
export const STOP_WORDS: Readonly<Record<string, string>> = {
  en: `the a an of and to in is are was were do does did how what why when where who which can could should would will
    i you he she it we they my your his her our their this that these those for with on at from by as if not or but
    have has had be been there me us them than then so about into please must may might any some all`,
  de: `der die das den dem des ein eine einen einem einer und oder aber nicht ist sind war wie was wer wo wann warum
    ich du er sie es wir ihr mein dein sein für mit auf aus bei nach von zu zum zur im am kann können soll wird werden
    haben hat bitte mir mich dass wenn als auch noch nur über kein keine`,
  fr: `le la les un une des du de et ou mais ne pas est sont était comment que quoi qui où quand pourquoi je tu il elle
    nous vous ils mon ma mes ton ta sa ses pour avec sur dans par au aux ce cette ces peut puis être avoir quel quelle
    si plus sans en moi me se`,
  es: `el la los las un una unos unas y o pero no es son era cómo como qué que quién dónde cuándo porque por yo tú él
    ella nosotros mi mis tu su sus para con sobre en del al de este esta estos puede puedo ser tener cuál cuántos más
    sin me se lo está hay`,
  it: `il lo la i gli le un uno una di e o ma non è sono era come che chi dove quando perché io tu lui lei noi voi mio
    mia tuo sua per con su nel nella da dal della del dei questo questa può posso essere avere quale più senza mi si`,
  pt: `o a os as um uma uns umas e ou mas não é são era como que quem onde quando porque eu tu ele ela nós meu minha
    seu sua para com sobre em no na nos nas do da dos das este esta isso pode posso ser ter qual mais sem me se ao`,
  nl: `de het een en of maar niet is zijn was hoe wat wie waar wanneer waarom ik jij hij zij wij jullie mijn jouw
    voor met op uit bij naar van te in aan dit dat deze die kan kunnen moet wordt hebben heeft geen ook nog je u`,
  pl: `i w na z do nie jest są był jak co kto gdzie kiedy dlaczego ja ty on ona my wy mój moja twój dla od po przez
    o że to ten ta te czy może mogę być mieć który jaka jaki jakie się za bez`,
  sv: `och eller men inte är var hur vad vem när varför jag du han hon vi ni min mitt din för med på av till från
    det den de en ett som kan ska har inte att om utan`,
  da: `og eller men ikke er var hvordan hvad hvem hvor hvornår hvorfor jeg du han hun vi min mit din for med på af til
    fra det den de en et som kan skal har at om uden`,
  no: `og eller men ikke er var hvordan hva hvem hvor når hvorfor jeg du han hun vi min mitt din for med på av til fra
    det den de en et som kan skal har å om uten`,
  fi: `ja tai mutta ei on ovat oli miten mikä mitä kuka missä milloin miksi minä sinä hän me te he minun sinun kanssa
    että jos voi voin olla tämä se ne kuin`,
  cs: `a i v na z do ne je jsou byl jak co kdo kde kdy proč já ty on ona my vy můj moje tvůj pro od po přes o že to
    ten ta mohu může být mít který která se za bez`,
  hu: `a az egy és vagy de nem van vannak volt hogyan mi ki hol mikor miért én te ő mi ti ők hogy ha ez az lehet kell
    meg is csak`,
  ro: `și sau dar nu este sunt era cum ce cine unde când de eu tu el ea noi voi meu mea tău pentru cu pe din la în
    care acest această poate pot să fi un o fără`,
  tr: `ve veya ama değil bir bu şu o nasıl ne kim nerede zaman neden ben sen biz siz benim senin için ile mi mı mu mü
    da de daha en var yok`,
  id: `dan atau tetapi tidak adalah bagaimana apa siapa mana kapan mengapa saya kamu dia kami kita mereka untuk dengan
    pada dari ke di yang ini itu bisa dapat akan tanpa`,
  vi: `và hoặc nhưng không là của như thế nào gì ai đâu khi tại sao tôi bạn anh chị chúng cho với trên từ đến trong này
    đó có thể được một các những`,
  ru: `и или но не есть был как что кто где когда почему я ты он она мы вы они мой моя твой для с со на из от к в во по
    это этот эта мне меня можно ли если без у`,
  uk: `і й або але не є був як що хто де коли чому я ти він вона ми ви вони мій моя твій для з зі на із від до в у по
    це цей ця мені можна чи якщо без`,
}
/** Words that deny, in 20 languages; in a text of another language they count for the class `negation`. */
export const NEGATIONS = `
not no never none nobody nothing neither nor without except unless cannot hardly barely nicht kein keine keinen
niemals nie ohne außer ne pas jamais aucun aucune sans sauf sin nunca ningún ninguna excepto non mai senza nessuno
nessuna eccetto não nunca sem nenhum nenhuma exceto niet geen nooit zonder behalve nie nigdy bez żaden oprócz inte
aldrig utan ingen ikke aldri uden uten ei en älä ilman paitsi ne nikdy bez nem soha nélkül nu niciodată fără değil yok
hiç asla tidak bukan jangan tanpa không chưa đừng не нет нельзя никогда без кроме ні немає ніколи крім 不 没 没有 非 无 别 ない
ません なし 아니 않 없 لا لم لن ليس بدون नहीं मत बिना לא אין בלי
`
/** Words of a day or of now: an answer to them is old within hours. */
export const RELATIVE = `
today tonight now nowadays currently current latest yesterday tomorrow recent recently newest heute jetzt morgen
gestern aktuell aktuelle aktuellen aujourd'hui maintenant demain hier actuellement dernière hoy ahora mañana ayer
actualmente oggi adesso ora domani ieri attualmente hoje agora amanhã ontem atualmente vandaag nu gisteren dzisiaj
dziś teraz jutro wczoraj idag imorgon igår nå i-dag nyt tänään huomenna eilen dnes teď zítra včera ma most holnap
tegnap azi acum mâine ieri bugün şimdi yarın dün sekarang besok kemarin сегодня сейчас завтра вчера сьогодні зараз
`
/** The same in scripts without spaces: found anywhere in the text. */
export const RELATIVE_PARTS = `今天 今日 现在 現在 明天 明日 昨天 昨日 最新 目前
오늘 지금 내일 어제 최신 วันนี้ ตอนนี้ พรุ่งนี้ اليوم الآن غدا आज अभी कल היום עכשיו מחר`
/** "This week", "last month", "next year": a word of the first kind before one of the second. */
export const RELATIVE_PAIRS = `this last next past coming previous|week month year quarter weekend season morning
  evening monday tuesday wednesday thursday friday saturday sunday night decade century`
/** A preposition and an article in one word, in German; "'s" is "es". */
export const JOINED = `
im=in dem|ins=in das|vom=von dem|zum=zu dem|zur=zu der|beim=bei dem|am=an dem|ans=an das|aufs=auf das|fürs=für das
|'s=es
`
