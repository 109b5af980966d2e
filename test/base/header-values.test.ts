import {expect, test} from 'vitest'
import {headerText, writtenHeader} from '../../src/base/header-values.ts'

const bytes = (text: string) => Buffer.from(text).toString('latin1')

test.each([
  ['ASCII', 'plain', 'plain'],
  ['UTF-8', bytes('Zoë 漢字 🙂'), 'Zoë 漢字 🙂'],
  ['Latin-1, which is no UTF-8', 'Zo\xeb', 'Zoë'],
  ['UTF-8 that is cut', bytes('Zoë').slice(0, -1), 'Zo\xc3'],
  ['a surrogate in UTF-8, which is none', '\xed\xa0\x80', '\xed\xa0\x80'],
  ['text that was read before', 'Zoë 漢字', 'Zoë 漢字'],
  ['nothing', '', ''],
])('the text of a header: %s', (_, value, text) => {
  expect(headerText(value)).toBe(text)
})

test.each(['plain', 'Zoë', 'Zoë 漢字 🙂', ''])('%j is written as one character a byte, and read again', text => {
  const written = writtenHeader(text)
  expect(written).toBe(bytes(text))
  expect(headerText(written)).toBe(text)
})
