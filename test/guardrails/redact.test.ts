import * as fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import type {JsonValue} from '../../src/guardrails/json.ts'
import type {PiiSpan} from '../../src/guardrails/pii/classes.ts'
import {vault} from '../../src/guardrails/pii/redact.ts'
import {type Restorer, restoreOfAll} from '../../src/guardrails/pii/restore.ts'
import {findPii} from '../../src/guardrails/pii/scan.ts'
import {labelledLines} from './pii-score.ts'

const tuning = labelledLines('tuning')

function redacted(text: string) {
  const kept = vault()
  kept.reserve(text)
  return {kept, said: kept.redact(text, findPii(text))}
}

function inPieces(through: Restorer, pieces: readonly string[]): string {
  return pieces.map(piece => through.push(piece)).join('') + through.end()
}

describe('placeholders', () => {
  test('are numbered by class', () => {
    expect(redacted('a@example.com, b@example.com, 4242 4242 4242 4242').said).toBe(
      '<EMAIL_1>, <EMAIL_2>, <CREDIT_CARD_1>',
    )
  })

  test('are the same for one value, however it is written', () => {
    expect(redacted('4242 4242 4242 4242, 4242-4242-4242-4242 and ４２４２424242424242').said).toBe(
      '<CREDIT_CARD_1>, <CREDIT_CARD_1> and <CREDIT_CARD_1>',
    )
    expect(redacted('Bob@example.com and bob@EXAMPLE.com').said).toBe('<EMAIL_1> and <EMAIL_1>')
  })

  test('are the same over all texts of a call', () => {
    const kept = vault()
    expect(kept.redact('to a@example.com', findPii('to a@example.com'))).toBe('to <EMAIL_1>')
    expect(kept.redact('b@example.com a@example.com', findPii('b@example.com a@example.com'))).toBe(
      '<EMAIL_2> <EMAIL_1>',
    )
  })

  test('that the text wrote itself are not given out, and not restored', () => {
    const {kept, said} = redacted('what is <EMAIL_1>? mine is a@example.com')
    expect(said).toBe('what is <EMAIL_1>? mine is <EMAIL_2>')
    expect(kept.restore(said)).toBe('what is <EMAIL_1>? mine is a@example.com')
  })

  test('of others are left alone', () => {
    const {kept} = redacted('a@example.com')
    expect(kept.restore('<EMAIL_1> <EMAIL_2> <EMAIL_01> <IBAN_1> <EMAIL_1')).toBe(
      'a@example.com <EMAIL_2> <EMAIL_01> <IBAN_1> <EMAIL_1',
    )
  })

  test('a value that looks like a replacement pattern is put back as it stands', () => {
    const kept = vault()
    const value = "$&$1$'"
    const span: PiiSpan = {class: 'secret', kind: 'assigned', start: 0, end: value.length, certainty: 1}
    expect(kept.restore(kept.redact(value, [span]))).toBe(value)
  })
})

describe('a redaction', () => {
  const value = fc.constantFrom(
    'a@example.com',
    '4242 4242 4242 4242',
    'DE89 3704 0044 0532 0130 00',
    '+44 20 7946 0958',
    '2001:db8::1',
    'AKIAQ3EGRT5N7OPL2K4M',
  )
  const filler = fc.oneof(fc.string({maxLength: 12}), fc.constantFrom(' and ', '\n', '，', '😀 ', '\u200b', '"', '٤٢ '))

  test('changes nothing but the spans', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(value, filler), {maxLength: 12}), parts => {
        const text = parts.join('')
        const spans = findPii(text)
        const pieces = vault()
          .redact(text, spans)
          .split(/<[A-Z_]+_\d+>/)
        const between = [0, ...spans.map(({end}) => end)].map((from, at) =>
          text.slice(from, spans[at]?.start ?? text.length),
        )
        if (!/<[A-Z_]+_\d+>/.test(text)) expect(pieces).toEqual(between)
      }),
      {numRuns: 300},
    )
  })

  test('leaves no labelled value of the tuning half in its text', () => {
    for (const {id, text, spans} of tuning) {
      const {said} = redacted(text)
      for (const {start, end} of spans) expect(said, id).not.toContain(text.slice(start, end))
    }
  })

  test('is undone by restoring', () => {
    for (const {id, text} of tuning) {
      const {kept, said} = redacted(text)
      expect(kept.restore(said), id).toBe(text)
    }
  })
})

describe('restoring a stream', () => {
  const {kept} = redacted('a@example.com 4242 4242 4242 4242')
  const answer = 'Wrote to <EMAIL_1>, charged <CREDIT_CARD_1>; a < b, <EMAIL_7>, <b>, <EMAIL_1'
  const whole = kept.restore(answer)

  test('is the same wherever it is cut', () => {
    expect(whole).toBe('Wrote to a@example.com, charged 4242 4242 4242 4242; a < b, <EMAIL_7>, <b>, <EMAIL_1')
    for (let one = 0; one <= answer.length; one++) {
      for (let two = one; two <= answer.length; two++) {
        expect(inPieces(kept.restorer(), [answer.slice(0, one), answer.slice(one, two), answer.slice(two)])).toBe(whole)
      }
    }
    expect(inPieces(kept.restorer(), [...answer])).toBe(whole)
  })

  test('keeps back no more than what may begin a placeholder', () => {
    const through = kept.restorer()
    expect(through.push('hello <EMA')).toBe('hello ')
    expect(through.push('IL_1')).toBe('')
    expect(through.push('> and <')).toBe('a@example.com and ')
    expect(through.push(' 3')).toBe('< 3')
    expect(through.push(`<${'A'.repeat(40)}`)).toBe(`<${'A'.repeat(40)}`)
    expect(through.end()).toBe('')
  })
})

describe('restoring JSON', () => {
  const kept = vault()
  const values = ['a@example.com', 'k9!"Zq\\2#v', 'line\nbreak']
  const text = values.join(' ')
  const starts = values.map(value => text.indexOf(value))
  kept.redact(
    text,
    values.map(
      (value, at): PiiSpan => ({
        class: at ? 'secret' : 'email',
        kind: 'x',
        start: starts[at]!,
        end: starts[at]! + value.length,
        certainty: 1,
      }),
    ),
  )
  const said = ['<EMAIL_1>', '\\u003cSECRET_1\\u003e', '<SECRET_2\\u003E', '<SECRET_9>', '\\u003cb']
  const args = `{"to": "${said.join(' ')}"}`
  const want = {to: `${values[0]} ${values[1]} ${values[2]} <SECRET_9> <b`}

  test('keeps it JSON', () => {
    expect(JSON.parse(kept.restore(args, 'json'))).toEqual(want)
  })

  test('wherever it is cut', () => {
    const whole = kept.restore(args, 'json')
    for (let one = 0; one <= args.length; one++)
      for (let two = one; two <= args.length; two++)
        expect(inPieces(kept.restorer('json'), [args.slice(0, one), args.slice(one, two), args.slice(two)])).toBe(whole)
    expect(inPieces(kept.restorer('json'), [...args])).toBe(whole)
  })

  test('any text, in any pieces, is that of the whole', () => {
    const part = fc.constantFrom(
      '<',
      '>',
      '\\',
      'u003c',
      '\\u003c',
      '\\u003e',
      'EMAIL_1',
      'EMAIL_',
      '1',
      'SECRET_2',
      'x',
      '<EMAIL_1>',
      '"',
      '😀',
    )
    fc.assert(
      fc.property(
        fc.array(part, {maxLength: 20}),
        fc.array(fc.nat(12), {maxLength: 40}),
        fc.constantFrom('text', 'json'),
        (parts, sizes, form) => {
          const all = parts.join('')
          const pieces: string[] = []
          let at = 0
          for (const size of sizes) {
            pieces.push(all.slice(at, at + size))
            at += size
          }
          pieces.push(all.slice(at))
          expect(inPieces(kept.restorer(form as 'text'), pieces)).toBe(kept.restore(all, form as 'text'))
        },
      ),
      {numRuns: 2000},
    )
  })

  test('a whole answer, in its texts and in the arguments of its tool calls', () => {
    const body: JsonValue = {
      id: 'x',
      choices: [
        {message: {content: 'to <EMAIL_1>, not <EMAIL_2>', tool_calls: [{function: {name: 'f', arguments: args}}]}},
      ],
      usage: {n: 1},
    }
    const restored = kept.restoreBody(body) as {
      choices: {message: {content: string; tool_calls: {function: {arguments: string}}[]}}[]
    }
    expect(restored.choices[0]!.message.content).toBe('to a@example.com, not <EMAIL_2>')
    expect(JSON.parse(restored.choices[0]!.message.tool_calls[0]!.function.arguments)).toEqual(want)
    expect(kept.restoreBody({content: [{type: 'tool_use', input: {to: '<SECRET_1>'}}]})).toEqual({
      content: [{type: 'tool_use', input: {to: values[1]}}],
    })
    const nothing: JsonValue = {a: [{b: '<EMAIL_7>'}]}
    expect(kept.restoreBody(nothing)).toBe(nothing)
  })

  test('of two redactions the earlier one’s placeholder stands in the text', () => {
    const other = vault()
    other.redact('b@example.com c@example.com', findPii('b@example.com c@example.com'))
    expect(restoreOfAll([kept, other])!.restore('<EMAIL_1> <EMAIL_2>')).toBe('a@example.com c@example.com')
    expect(restoreOfAll([])).toBeNull()
  })
})
