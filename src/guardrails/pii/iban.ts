import {mod97} from './check-digits.ts'
import {SURE} from './classes.ts'
import {type Detector, isWordAt, PAUSE} from './scanned-text.ts'

/**
 * The characters after country and check digits: `n` digits, `a` letters, `c` either, each with its count. Source: the
 * ISO 13616 registry.
 */
const COUNTRIES: Readonly<Record<string, string>> = {
  ...{
    AD: '8n12c',
    AE: '19n',
    AL: '8n16c',
    AT: '16n',
    AZ: '4a20c',
    BA: '16n',
    BE: '12n',
    BG: '4a6n8c',
    BH: '4a14c',
    BI: '23n',
    BR: '23n1a1c',
  },
  ...{
    BY: '4c4n16c',
    CH: '5n12c',
    CR: '18n',
    CY: '8n16c',
    CZ: '20n',
    DE: '18n',
    DJ: '23n',
    DK: '14n',
    DO: '4c20n',
    EE: '16n',
    EG: '25n',
  },
  ...{
    ES: '20n',
    FI: '14n',
    FK: '2a12n',
    FO: '14n',
    FR: '10n11c2n',
    GB: '4a14n',
    GE: '2a16n',
    GI: '4a15c',
    GL: '14n',
    GR: '7n16c',
  },
  ...{
    GT: '24c',
    HN: '4a20n',
    HR: '17n',
    HU: '24n',
    IE: '4a14n',
    IL: '19n',
    IQ: '4a15n',
    IS: '22n',
    IT: '1a10n12c',
    JO: '4a4n18c',
  },
  ...{
    KW: '4a22c',
    KZ: '3n13c',
    LB: '4n20c',
    LC: '4a24c',
    LI: '5n12c',
    LT: '16n',
    LU: '3n13c',
    LV: '4a13c',
    LY: '21n',
    MC: '10n11c2n',
  },
  ...{
    MD: '20c',
    ME: '18n',
    MK: '3n10c2n',
    MN: '16n',
    MR: '23n',
    MT: '4a5n18c',
    MU: '4a19n3a',
    NI: '4a20n',
    NL: '4a10n',
    NO: '11n',
  },
  ...{
    OM: '3n16c',
    PK: '4a16c',
    PL: '24n',
    PS: '4a21c',
    PT: '21n',
    QA: '4a21c',
    RO: '4a16c',
    RS: '18n',
    RU: '14n15c',
    SA: '2n18c',
  },
  ...{
    SC: '4a20n3a',
    SD: '14n',
    SE: '20n',
    SI: '15n',
    SK: '20n',
    SM: '1a10n12c',
    SO: '19n',
    ST: '21n',
    SV: '4a20n',
    TL: '19n',
    TN: '20n',
  },
  ...{TR: '6n16c', UA: '6n19c', VA: '18n', VG: '4a16n', XK: '16n', YE: '4a4n18c'},
}

const FORMS = new Map(
  Object.entries(COUNTRIES).map(([country, form]) => {
    const parts = [...form.matchAll(/(\d+)([nac])/g)].map(([, count, kind]) => ({count: Number(count), kind: kind!}))
    const signs = parts.map(({count, kind}) => `${{n: '[0-9]', a: '[A-Z]', c: '[A-Z0-9]'}[kind]}{${count}}`).join('')
    return [
      country,
      {length: 4 + parts.reduce((sum, part) => sum + part.count, 0), form: new RegExp(`^[A-Z]{2}[0-9]{2}${signs}$`)},
    ]
  }),
)

/** International bank account numbers: a country of the registry, its length and form, MOD 97-10. */
export const ibans: Detector = function* (page) {
  const {text, groups, work} = page
  // A number begins two letters before a group of digits, with nothing between them or one separator.
  for (let group = 0; group < groups.length; group += 2) {
    if (group % PAUSE === 0) yield undefined
    work.spend(1)
    const start = groups[group]! - 2
    if (start < 0 || !isLetter(text.charCodeAt(start + 1)) || !isLetter(text.charCodeAt(start))) continue
    const country = text.slice(start, start + 2).toUpperCase()
    const wanted = FORMS.get(country)
    if (!wanted || isWordAt(text, start - 1)) continue
    const end = endOf(text, start, wanted.length)
    work.spend(wanted.length * 3)
    if (end === undefined || isWordAt(text, end)) continue
    const code = text
      .slice(start, end)
      .replace(/[^A-Za-z0-9]/g, '')
      .toUpperCase()
    if (wanted.form.test(code) && mod97(code)) yield {class: 'iban', kind: country, start, end, certainty: SURE.proven}
  }
}

function isLetter(code: number): boolean {
  return (code > 64 && code < 91) || (code > 96 && code < 123)
}

const MAX_GAP = 2

/** The index after so many letters and digits, few signs between two; undefined when the text ends before. */
function endOf(text: string, start: number, length: number): number | undefined {
  let seen = 0
  let gap = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const is_sign = (code > 47 && code < 58) || (code > 64 && code < 91) || (code > 96 && code < 123)
    if (is_sign) {
      gap = 0
      if (++seen === length) return at + 1
    } else if (!' \n\r\t-./_·'.includes(text[at]!) || ++gap > MAX_GAP) return undefined
  }
  return undefined
}
