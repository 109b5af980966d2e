const NAMES: readonly (readonly [month: number, names: string])[] = [
  [
    1,
    'january jan januar janvier enero gennaio januari janeiro stycznia styczeń ledna leden januára ocak января январь tammikuuta tammikuu jänner ianuarie січня',
  ],
  [
    2,
    'february feb februar février fevrier febrero febbraio februari fevereiro lutego luty února únor februára şubat февраля февраль helmikuuta helmikuu лютого',
  ],
  [
    3,
    'march mar märz maerz mars marzo maart março marco marca marzec března březen mart марта март maaliskuuta maaliskuu marts березня',
  ],
  [
    4,
    'april apr avril abril aprile kwietnia kwiecień dubna duben apríla nisan апреля апрель huhtikuuta huhtikuu квітня',
  ],
  [5, 'may mai mayo maggio mei maio maja maj května květen mája mayıs мая май toukokuuta toukokuu травня'],
  [
    6,
    'june jun juni juin junio giugno junho czerwca czerwiec června červen júna haziran июня июнь kesäkuuta kesäkuu червня',
  ],
  [
    7,
    'july jul juli juillet julio luglio julho lipca lipiec července červenec júla temmuz июля июль heinäkuuta heinäkuu липня',
  ],
  [
    8,
    'august aug août aout agosto augustus augusti sierpnia sierpień srpna srpen augusta ağustos августа август elokuuta elokuu серпня',
  ],
  [
    9,
    'september sep sept septembre septiembre setiembre settembre setembro września wrzesień září septembra eylül сентября сентябрь syyskuuta syyskuu вересня',
  ],
  [
    10,
    'october oct oktober okt octobre octubre ottobre outubro oktobra października październik října říjen októbra ekim октября октябрь lokakuuta lokakuu жовтня',
  ],
  [
    11,
    'november nov novembre noviembre novembro listopada listopad novembra kasım ноября ноябрь marraskuuta marraskuu',
  ],
  [
    12,
    'december dec dezember dez décembre decembre diciembre dicembre dezembro grudnia grudzień prosince prosinec decembra aralık декабря декабрь joulukuuta joulukuu desember грудня',
  ],
]

const MONTHS = new Map(NAMES.flatMap(([month, names]) => names.split(' ').map(name => [name, month] as const)))

/** The month of a name in lower case, in full or short; undefined for any other word. */
export function monthOf(name: string): number | undefined {
  return MONTHS.get(name)
}
