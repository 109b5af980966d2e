import * as fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {PII_CLASSES, type PiiClass} from '../../src/guardrails/pii/classes.ts'
import {plainOf} from '../../src/guardrails/pii/digits.ts'
import {settled} from '../../src/guardrails/pii/overlaps.ts'
import {findingPii, findPii} from '../../src/guardrails/pii/scan.ts'
import {work} from '../../src/guardrails/pii/work.ts'
import {labelledLines, scoresOf} from './pii-score.ts'

const tuning = labelledLines('tuning')

/** Lines as `class: value`; the finds of a text. */
function found(text: string, classes?: readonly PiiClass[]): string[] {
  return findPii(text, {classes}).map(span => `${span.class}: ${text.slice(span.start, span.end)}`)
}

describe('the tuning half', () => {
  test.each(scoresOf(tuning))('$class keeps its floor', ({precision, recall}) => {
    expect(precision).toBeGreaterThanOrEqual(0.97)
    expect(recall).toBeGreaterThanOrEqual(0.97)
  })

  test('has every class in it, so that no floor is empty', () => {
    expect(scoresOf(tuning).filter(({labelled}) => labelled < 5)).toEqual([])
  })
})

/** What is found, and texts in which nothing is. */
const TABLE: Readonly<
  Record<
    PiiClass,
    {readonly finds: readonly (readonly [text: string, ...values: string[]])[]; readonly none: readonly string[]}
  >
> = {
  credit_card: {
    finds: [
      ['pay with 4242 4242 4242 4242 please', '4242 4242 4242 4242'],
      ['4242-4242-4242-4242', '4242-4242-4242-4242'],
      ['amex 3782 822463 10005.', '3782 822463 10005'],
      ['two: 4111111111111111 and 5555555555554444', '4111111111111111', '5555555555554444'],
      ['4 2 4 2 4 2 4 2 4 2 4 2 4 2 4 2', '4 2 4 2 4 2 4 2 4 2 4 2 4 2 4 2'],
      ['in case you need it: 4242 4242 4242 4242', '4242 4242 4242 4242'],
      ['４２４２ ４２４２ ４２４２ ４２４２', '４２４２ ４２４２ ４２４２ ４２４２'],
      ['42\u200b42424242424242 card', '42\u200b42424242424242'],
      ['a card number\n4242 4242\n4242 4242', '4242 4242\n4242 4242'],
    ],
    none: [
      '4242 4242 4242 4243',
      '0.4242424242424242',
      'x4242424242424242',
      '42424242424242424',
      'order 4242424242424242',
      '9242 4242 4242 4241',
      '1-4242424242424242',
    ],
  },
  iban: {
    finds: [
      ['to DE89 3704 0044 0532 0130 00.', 'DE89 3704 0044 0532 0130 00'],
      ['iban=gb29nwbk60161331926819', 'gb29nwbk60161331926819'],
      ['NL91-ABNA-0417-1643-00', 'NL91-ABNA-0417-1643-00'],
      ['ＤＥ89 3704 0044 0532 0130 00', 'ＤＥ89 3704 0044 0532 0130 00'],
    ],
    none: [
      'DE88 3704 0044 0532 0130 00',
      'DE89 3704 0044 0532 0130 001',
      'XX89 3704 0044 0532 0130 00',
      'DE89 3704 0044',
      'aDE89370400440532013000',
    ],
  },
  national_id: {
    finds: [
      ['my SSN is 536-22-1234', '536-22-1234'],
      ['social security number 536221234', '536221234'],
      ['NINO AB 12 34 56 C', 'AB 12 34 56 C'],
      ['Steuer-ID 86095742719', '86095742719'],
      ['NIR 2 55 08 14 168 025 38', '2 55 08 14 168 025 38'],
      ['DNI 12345678Z', '12345678Z'],
      ['NIE X1234567L', 'X1234567L'],
      ['codice fiscale RSSMRA85T10A562S', 'RSSMRA85T10A562S'],
      ['BSN 111222333', '111222333'],
      ['CPF 111.444.777-35', '111.444.777-35'],
      ['Aadhaar 2341 2341 2346', '2341 2341 2346'],
      ['आधार २३४१ २३४१ २३४६', '२३४१ २३४१ २३४६'],
      ['SIN 046 454 286', '046 454 286'],
    ],
    none: [
      ...['SSN 666-22-1234', 'SSN 536-00-1234', 'SSN 536-22-0000', 'SSN 936-22-1234', 'part 536-22-1234', '536221234'],
      ...[
        'NINO BG 12 34 56 C',
        'NINO AB 12 34 56 E',
        'NINO DA 12 34 56 C',
        'Steuer-ID 86095742718',
        'Steuer-ID 12345678903',
      ],
      ...[
        'NIR 2 55 08 14 168 025 39',
        'NIR 2 55 15 14 168 025 38',
        'DNI 12345678A',
        'NIE X1234567M',
        'RSSMRA85T10A562T',
      ],
      ...[
        'BSN 111222334',
        '111222333',
        'CPF 111.444.777-36',
        'CPF 111.111.111-11',
        'Aadhaar 2341 2341 2347',
        'Aadhaar 1341 2341 2346',
      ],
      ...['SIN 046 454 287', '046 454 286', '550e8400-e29b-41d4-a716-446655440000'],
    ],
  },
  email: {
    finds: [
      ['write to <jo.doe+x@sub.example.co.uk>.', 'jo.doe+x@sub.example.co.uk'],
      ['mailto:bob@example.com?subject=hi', 'bob@example.com'],
      ["'bob@example.com'", 'bob@example.com'],
      ['a@example.com,b@example.org', 'a@example.com', 'b@example.org'],
      ['to=bob@example.com&x=1', 'bob@example.com'],
      ['邮箱是li@example.com，谢谢', 'li@example.com'],
      ['bob＠example.com', 'bob＠example.com'],
      ['ada@mail.example.pdf', 'ada@mail.example'],
      ['scan of ada@mail.example.co.uk.JPEG', 'ada@mail.example.co.uk'],
    ],
    none: [
      ...[
        'a@b',
        'pkg@1.2.3',
        'lib@v1.beta',
        'icon@2x.png',
        'sprite@home.min.js',
        'photo@summer.png',
        '@scope/name',
        'ssh deploy@web.example.com',
        'ssh -i key.pem -v deploy@web.example.com',
        'git@git.example.com:team/x.git',
      ],
      ...[
        'https://user@host.example.com/',
        'Message-ID: <1.a@mail.example.com>',
        `${'a'.repeat(65)}@example.com`,
        'a@example..com',
      ],
    ],
  },
  phone: {
    finds: [
      ['call +44 20 7946 0958 now', '+44 20 7946 0958'],
      ['phone: (212) 555-0187 ext. 12', '(212) 555-0187'],
      ['text 415-555-0132', '415-555-0132'],
      ['Tel. 030 23125 014', '030 23125 014'],
      ['電話は 03-1234-5678 です', '03-1234-5678'],
      ['ring 020 7946 0958 or 07700 900123', '020 7946 0958', '07700 900123'],
      ['{"mobile":"4155550199"}', '4155550199'],
      ['name,phone\na,020 7946 0958', '020 7946 0958'],
      ['tel +٤٤ ٢٠ ٧٩٤٦ ٠٩٥٨', '+٤٤ ٢٠ ٧٩٤٦ ٠٩٥٨'],
    ],
    none: [
      '020 7946 0958',
      '+44 7 19',
      '+999 123 456 789',
      'order 415-555-0132',
      'from 2019-2026',
      'call at 10:30',
      'call version 2026.03.14.1592',
      '1767225600',
    ],
  },
  ip_address: {
    finds: [
      ['from 203.0.113.9:8443', '203.0.113.9'],
      ['ping 8.8.8.8', '8.8.8.8'],
      ['http://[2001:db8::1]:3000/', '2001:db8::1'],
      ['fe80::1ff:fe23:4567:890a%eth0', 'fe80::1ff:fe23:4567:890a'],
      ['::ffff:192.0.2.1 too', '::ffff:192.0.2.1'],
      ['203\u200b.0.113.18', '203\u200b.0.113.18'],
    ],
    none: [
      ...[
        '127.0.0.1',
        '0.0.0.0',
        '255.255.255.0',
        '192.0.2.0/24',
        '256.1.1.1',
        '1.2.3.4.5',
        '203.0.113.09',
        'version 1.2.3.4',
        'section 3.2.1.4',
        'upgrade from 1.2.3.4',
      ],
      ...['::1', 'x[1::2]', 'std::vector', 'cafe::bed', '12:34:56', '00:00:5e:00:53:01', '12345::1'],
    ],
  },
  api_key: {
    finds: [
      ['AKIAQ3EGRT5N7OPL2K4M', 'AKIAQ3EGRT5N7OPL2K4M'],
      ['use ghp_a8Zk2LmQ9xRt4Yv7Bn3Wc6Df1Gh5Jk0PsTuE now', 'ghp_a8Zk2LmQ9xRt4Yv7Bn3Wc6Df1Gh5Jk0PsTuE'],
      [
        'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLXRoaXM',
        'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLXRoaXM',
      ],
      [
        `x -----BEGIN PRIVATE KEY-----\n${'Ab1+'.repeat(16)}\n-----END PRIVATE KEY----- y`,
        `-----BEGIN PRIVATE KEY-----\n${'Ab1+'.repeat(16)}\n-----END PRIVATE KEY-----`,
      ],
      [
        `-----BEGIN RSA PRIVATE KEY-----\n${'Ab1+'.repeat(16)}`,
        `-----BEGIN RSA PRIVATE KEY-----\n${'Ab1+'.repeat(16)}`,
      ],
    ],
    none: [
      ...[
        'AKIAQ3EGRT5N7OPL2K4',
        'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
        'sk-spinner sk-circle-fade-in-and-out',
        'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0',
      ],
      ...[
        'eyJhIjoxfQ.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
        '-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----',
        '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----',
      ],
    ],
  },
  secret: {
    finds: [
      ['DB_PASSWORD=k9!Zq2#vL7mPx4', 'k9!Zq2#vL7mPx4'],
      ['api_token = "89b7fee56e08e807f175e5bb614a166b"', '89b7fee56e08e807f175e5bb614a166b'],
      ['postgres://svc:4mzGNxrBeKxh0KYI@db/main', '4mzGNxrBeKxh0KYI'],
      ['Passwort: gT7$kLm9!pQ2x.', 'gT7$kLm9!pQ2x'],
      ['{"client_secret":"aZ4rTy7UiOp9QsDf"}', 'aZ4rTy7UiOp9QsDf'],
      ['?user=a&refresh_token=aZ4rTy7UiOp9QsDf&x=1', 'aZ4rTy7UiOp9QsDf'],
      ['パスワードは u2uH*ZpcEE!5nytFS*33 です', 'u2uH*ZpcEE!5nytFS*33'],
      ['password = "a8(Kz;2mQ<7xR)tY"', 'a8(Kz;2mQ<7xR)tY'],
    ],
    none: [
      ...[
        'password: ********',
        'api_key = "YOUR_API_KEY"',
        'secret: ${DB_SECRET}',
        'commit 5e74f98bc7a086d35645afb6f982c957a6572257',
        'max_tokens=4096',
      ],
      ...[
        'secretName: tls-cert-production-eu2',
        'next_page_token=aZ4rTy7UiOp9QsDf',
        'password_hash=$2b$12$aZ4rTy7UiOp9QsDfaZ4rTy',
        'token = await getToken(session)',
      ],
      ...['cache-key: 9f86d081884c7d659a2feaa0c55ad015', 'sort_key=aZ4rTy7UiOp9QsDf'],
    ],
  },
  date_of_birth: {
    finds: [
      ['DOB: 03/04/1991', '03/04/1991'],
      ['born on 3 March 1987 in', '3 March 1987'],
      ['date of birth is July 19, 1956', 'July 19, 1956'],
      ['née à Lyon le 3 mars 1985', '3 mars 1985'],
      ['geboren am 3. März 1985', '3. März 1985'],
      ['生年月日：1985年3月3日', '1985年3月3日'],
      ['"birthDate":"19850303"', '19850303'],
      ['name,born\na,1958-03-30\nb,1959-04-01', '1958-03-30', '1959-04-01'],
      ['twins born 2011-10-05 and 2011-10-06', '2011-10-05', '2011-10-06'],
    ],
    none: [
      'due 03/04/2026',
      'DOB: 33/14/1991',
      'born-digital, accession of 14.03.1998',
      '{"dob":null,"created_at":"1984-02-29"}',
      '1991-03-04',
      'born 1991',
    ],
  },
  crypto_address: {
    finds: [
      ['to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
      ['BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4'],
      [
        'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
        'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
      ],
    ],
    none: [
      ...[
        '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb',
        'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5',
        'bc1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
      ],
      'x1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    ],
  },
}

describe.each(PII_CLASSES)('%s', name => {
  test.each(TABLE[name].finds.map(([text, ...values]) => ({text, values})))('is found in $text', ({text, values}) => {
    expect(found(text, [name])).toEqual(values.map(value => `${name}: ${value}`))
  })

  test.each(TABLE[name].none)('is not found in %s', text => {
    expect(found(text, [name])).toEqual([])
  })
})

describe('the plain text', () => {
  test('leads back to the text as it stands', () => {
    const text = 'a\u200b٤２𝟚😀e\u0301'
    const plain = plainOf(text)
    expect(plain.text).toBe('a422😀e\u0301')
    expect([...plain.text].map((_, at) => plain.original(at, at + 1).start)).toEqual([0, 2, 3, 4, 6, 7, 8])
    expect(plain.original(1, 4)).toEqual({start: 2, end: 6})
  })

  test('every character of it stands in the text where it says, in order', () => {
    fc.assert(
      fc.property(fc.string({unit: 'binary', maxLength: 60}), text => {
        const plain = plainOf(text)
        let before = 0
        for (let at = 0; at < plain.text.length; at++) {
          const {start, end} = plain.original(at, at + 1)
          expect(start).toBeGreaterThanOrEqual(before)
          expect(end).toBeGreaterThan(start)
          expect(plainOf(text.slice(start, end)).text.length).toBeLessThanOrEqual(end - start)
          before = end
        }
        expect(before).toBeLessThanOrEqual(text.length)
      }),
    )
  })

  test('a find stands where it stood, whatever is put around it', () => {
    const around = fc
      .array(fc.constantFrom(' ', 'ñ', '\u200b', '😀', '，', 'word ', '\n'), {maxLength: 8})
      .map(parts => parts.join(''))
    fc.assert(
      fc.property(around, around, (before, after) => {
        const text = `${before} 4242 4242 ４２４２ 4242 ${after}`
        const spans = findPii(text, {classes: ['credit_card']})
        expect(spans.map(({start, end}) => text.slice(start, end))).toEqual(['4242 4242 ４２４２ 4242'])
      }),
    )
  })
})

describe('overlaps', () => {
  const span = (start: number, end: number, certainty = 1) => ({start, end, certainty})

  test('the most certain wins, then the longest, then the first', () => {
    expect(settled([span(0, 9), span(2, 4, 3)])).toEqual([span(2, 4, 3)])
    expect(settled([span(2, 4), span(0, 9)])).toEqual([span(0, 9)])
    expect(settled([span(3, 6), span(0, 3), span(2, 5)])).toEqual([span(0, 3), span(3, 6)])
  })

  test('what is left is in order and apart, and nothing is dropped for no rival', () => {
    const spans = fc.array(fc.tuple(fc.nat(40), fc.integer({min: 1, max: 9}), fc.integer({min: 1, max: 3})), {
      maxLength: 20,
    })
    fc.assert(
      fc.property(spans, drawn => {
        const all = drawn.map(([start, length, certainty]) => span(start, start + length, certainty))
        const kept = settled(all)
        for (let at = 1; at < kept.length; at++) expect(kept[at]!.start).toBeGreaterThanOrEqual(kept[at - 1]!.end)
        for (const each of all) expect(kept.some(other => other.start < each.end && each.start < other.end)).toBe(true)
      }),
    )
  })
})

describe('hostile text', () => {
  const UNITS_PER_CHARACTER = 64
  const PIECES = [
    ...[
      'a',
      '1',
      '1 ',
      '12 ',
      '4242 ',
      '@',
      'a@',
      ':',
      '1:',
      '1.',
      '=',
      'password ',
      'password=',
      'token=abcdefghijkl1 ',
      'sk-',
      '-',
      '_',
    ],
    ...[
      'eyJhbGciOiJIUzI1NiJ9.',
      '-----BEGIN PRIVATE KEY-----',
      '-----END ',
      '+1',
      '+',
      'a,b\n',
      ',\n',
      '1.1.2000 ',
      '2000 ',
      'DE12 ',
      'ABCDEF12A34A123A ',
    ],
    ...[
      '\u200b1',
      '密码',
      '😀',
      '"password":"',
      'a=1&',
      '://:@',
      '4242424242424242 ',
      'AKIAABCDEFGHIJKLMNOP ',
      '?a=',
      'Zh9rK2',
      'dob 1.1.2000,',
      'ssh -a -b -c -d -e -f a@b.example ',
      '?a1=a1=a1=a1=a1=a1=a1= ',
      '\ud800',
    ],
  ]

  test.each(PIECES)('a megabyte of %j is looked at in steps that grow with its length', piece => {
    const units = (length: number) => {
      const counted = work()
      findPii(piece.repeat(Math.ceil(length / piece.length)).slice(0, length), {work: counted})
      return counted.units
    }
    const quarter = units(250_000)
    const whole = units(1_000_000)
    expect(whole).toBeLessThanOrEqual(1_000_000 * UNITS_PER_CHARACTER)
    expect(whole).toBeLessThanOrEqual(quarter * 4.4)
  })

  test('a long text gives way often, and is found the same', () => {
    const text = 'call +44 20 7946 0958 or 4242424242424242 on 1.1.2000. '.repeat(4000)
    const steps = findingPii(text)
    let pauses = 0
    let step = steps.next()
    for (; !step.done; step = steps.next()) pauses++
    expect(pauses).toBeGreaterThan(10)
    expect(step.value).toEqual(findPii(text))
    expect(step.value).toHaveLength(8000)
  })

  test('any text whatever is scanned, and finds lie in it, in order', () => {
    const word = fc.constantFrom(
      '4242',
      ' ',
      '-',
      '.',
      'DE89',
      '@',
      'example',
      '.com',
      '+44',
      'tel',
      ':',
      '\u200b',
      '密码',
      'dob',
      '1991',
      '"',
      '\n',
      ',',
      '=',
      'eyJ',
      '😀',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(word, {maxLength: 60}).map(words => words.join('')),
          fc.string({unit: 'binary'}),
        ),
        text => {
          let before = 0
          for (const {start, end} of findPii(text)) {
            expect(start).toBeGreaterThanOrEqual(before)
            expect(end).toBeGreaterThan(start)
            before = end
          }
          expect(before).toBeLessThanOrEqual(text.length)
        },
      ),
      {numRuns: 500},
    )
  })
})
