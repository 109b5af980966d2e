import {JSONRPCMessageSchema} from '@modelcontextprotocol/sdk/types.js'
import {describe, expect, test} from 'vitest'
import {McpFault} from '../../../src/mcp/wire/faults.ts'
import {
  answerText,
  notificationText,
  paramsText,
  readBody,
  readMessage,
  requestText,
  resultText,
  withId,
} from '../../../src/mcp/wire/messages.ts'

const request = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`

describe('36: ids come back unchanged', () => {
  const ids = [
    '0',
    '-1',
    '7',
    '"a"',
    '""',
    '"0"',
    '"\\u0061"',
    '1.0',
    '1e0',
    '12345678901234567890',
    '-0',
    `"${'x'.repeat(1024)}"`,
  ]
  test.each(ids)('%s', id => {
    const message = readMessage(request(id))
    expect(message).toMatchObject({kind: 'request', id: JSON.parse(id), id_text: id, method: 'ping'})
    expect(answerText((message as {id_text: string}).id_text, {result: '{}'})).toBe(
      `{"jsonrpc":"2.0","id":${id},"result":{}}`,
    )
    const answer = readMessage(`{"result":{"a":1.0},"jsonrpc":"2.0", "id" : ${id} }`)
    expect(answer).toMatchObject({kind: 'answer', id: JSON.parse(id), id_text: id})
    expect(withId(answer.text, '"ours"')).toBe('{"result":{"a":1.0},"jsonrpc":"2.0", "id" : "ours" }')
  })

  test('one that a nested object has is no id of the message', () => {
    const text = '{"params":{"id":5},"jsonrpc":"2.0","method":"x","id":"6"}'
    expect(readMessage(text)).toMatchObject({id_text: '"6"'})
    expect(withId(text, '7')).toBe('{"params":{"id":5},"jsonrpc":"2.0","method":"x","id":7}')
  })
})

const GOOD: readonly (readonly [kind: string, text: string])[] = [
  ['request', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}'],
  ['request', '{"jsonrpc":"2.0","id":1,"method":"ping","later":true}'],
  ['notification', '{"jsonrpc":"2.0","method":"notifications/initialized"}'],
  ['answer', '{"jsonrpc":"2.0","id":1,"result":{}}'],
  ['answer', '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"m","data":[1]}}'],
  ['answer', '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"m"}}'],
  ['answer', '{"jsonrpc":"2.0","error":{"code":-32000,"message":"m"}}'],
]

/** Hostile texts: the fault, and the id that its answer bears. */
const BAD: readonly (readonly [text: string, reason: string, id: string | null, words: RegExp])[] = [
  ['', 'parse_error', null, /not JSON/],
  ['{"jsonrpc":"2.0"', 'parse_error', null, /not JSON/],
  ['{"jsonrpc":"2.0"} {}', 'parse_error', null, /not JSON/],
  ['5', 'request_invalid', null, /object/],
  ['null', 'request_invalid', null, /object/],
  ['{}', 'request_invalid', null, /jsonrpc/],
  ['{"jsonrpc":"1.0","id":1,"method":"x"}', 'request_invalid', '1', /jsonrpc/],
  ['{"jsonrpc":2.0,"id":"a","method":"x"}', 'request_invalid', '"a"', /jsonrpc/],
  ['{"jsonrpc":"2.0","id":null,"method":"x"}', 'request_invalid', null, /id has to be/],
  ['{"jsonrpc":"2.0","id":true,"method":"x"}', 'request_invalid', null, /id has to be/],
  ['{"jsonrpc":"2.0","id":{"a":1},"method":"x"}', 'request_invalid', null, /id has to be/],
  ['{"jsonrpc":"2.0","id":[1],"method":"x"}', 'request_invalid', null, /id has to be/],
  ['{"jsonrpc":"2.0","id":1.5,"method":"x"}', 'request_invalid', null, /id has to be/],
  ['{"jsonrpc":"2.0","id":1e400,"method":"x"}', 'request_invalid', null, /id has to be/],
  [`{"jsonrpc":"2.0","id":"${'x'.repeat(1025)}","method":"x"}`, 'request_invalid', null, /id has to be/],
  [`{"jsonrpc":"2.0","id":1.${'0'.repeat(7_000)},"method":"x"}`, 'request_invalid', null, /id has more than/],
  ['{"jsonrpc":"2.0","id":1,"method":5}', 'request_invalid', '1', /method/],
  ['{"jsonrpc":"2.0","id":1,"method":""}', 'request_invalid', '1', /method/],
  ['{"jsonrpc":"2.0","id":1,"method":null}', 'request_invalid', '1', /method/],
  [`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(257)}"}`, 'request_invalid', '1', /method/],
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}', 'request_invalid', '1', /params/],
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":null}', 'request_invalid', '1', /params/],
  ['{"jsonrpc":"2.0","id":1,"method":"x","result":{}}', 'request_invalid', '1', /no result/],
  ['{"jsonrpc":"2.0","id":1}', 'request_invalid', '1', /one of result and error/],
  ['{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}', 'request_invalid', '1', /one of result/],
  ['{"jsonrpc":"2.0","id":1,"result":[]}', 'request_invalid', '1', /result has to be an object/],
  ['{"jsonrpc":"2.0","id":1,"result":null}', 'request_invalid', '1', /result has to be an object/],
  ['{"jsonrpc":"2.0","id":1,"error":"m"}', 'request_invalid', '1', /error has to be/],
  ['{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"m"}}', 'request_invalid', '1', /error has to be/],
  ['{"jsonrpc":"2.0","result":{}}', 'request_invalid', null, /id has to be/],
  ['{"jsonrpc":"2.0","id":{},"error":{"code":1,"message":"m"}}', 'request_invalid', null, /id has to be/],
  ['{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}', 'request_invalid', null, /method comes more than once/],
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1,"\\u0061":2}}', 'request_invalid', null, /params\.a comes/],
  [
    '{"jsonrpc":"2.0","id":1,"method":"x","params":{"__proto__":1,"__proto__":2}}',
    'request_invalid',
    null,
    /comes more/,
  ],
  [
    `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${'['.repeat(63)}${']'.repeat(63)}}}`,
    'request_invalid',
    null,
    /64/,
  ],
  [`${'['.repeat(100_000)}`, 'parse_error', null, /nested deeper/],
  ['[]', 'request_invalid', null, /batch/],
]

describe('messages', () => {
  test.each(GOOD)('%s: %s', (kind, text) => {
    expect(readMessage(text)).toMatchObject({kind, text, value: JSON.parse(text)})
  })

  test.each(BAD)('hostile: %s', (text, reason, id_text, words) => {
    const fault = faultOf(() => readMessage(text))
    expect(fault).toMatchObject({reason, id_text, http: 400, code: reason === 'parse_error' ? -32700 : -32600})
    expect(fault.message).toMatch(words)
    expect(fault.message.length).toBeLessThan(700)
  })

  test('each that is refused for its members is refused by SDK v1, and each that is taken is taken', () => {
    const strange = new Set([
      'later',
      'comes more',
      'nested',
      'more than 1024 characters',
      'method has',
      '"id":null,"error"',
    ])
    const is_strange = (text: string) => [...strange].some(word => text.includes(word))
    for (const [, text] of GOOD)
      if (!is_strange(text)) expect(JSONRPCMessageSchema.safeParse(JSON.parse(text)).success, text).toBe(true)
    for (const [text, reason, , words] of BAD)
      if (reason === 'request_invalid' && !/comes|more than|64|method/.test(words.source) && text.length < 500)
        expect(JSONRPCMessageSchema.safeParse(JSON.parse(text)).success, text).toBe(false)
  })

  test('63 levels of lists in params are read', () => {
    const text = `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${'['.repeat(62)}${']'.repeat(62)}}}`
    expect(readMessage(text).kind).toBe('request')
  })

  test('prototype keys are data', () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"x","params":{"__proto__":{"name":"y"},"constructor":1}}'
    const message = readMessage(text)
    expect(paramsText(message as never)).toBe('{"__proto__":{"name":"y"},"constructor":1}')
    expect(Object.keys((message as {params: object}).params)).toEqual(['__proto__', 'constructor'])
    expect(faultOf(() => readMessage('{"__proto__":{"jsonrpc":"2.0","id":1,"method":"x"}}')).reason).toBe(
      'request_invalid',
    )
  })

  test('a result keeps its bytes', () => {
    const result = '{ "n" : 1.0e2, "big":12345678901234567890 }'
    const answer = readMessage(`{"jsonrpc":"2.0","result":${result} ,"id":3}`)
    expect(resultText(answer as never)).toBe(result)
    expect(requestText('3', 'tools/call', result)).toBe(
      `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":${result}}`,
    )
    expect(notificationText('a"b', undefined)).toBe('{"jsonrpc":"2.0","method":"a\\"b"}')
  })

  test('16 MiB in one message are read', () => {
    const text = `{"jsonrpc":"2.0","id":1,"result":{"data":"${'x'.repeat(16 << 20)}"}}`
    expect(withId(readMessage(text).text, '2').length).toBe(text.length)
  })
})

describe('batches', () => {
  test('each message has its own text', () => {
    const text = ` [ ${request('1.0')} ,\n{"jsonrpc":"2.0","method":"n"} ] `
    const messages = readBody(text) as readonly {text: string}[]
    expect(messages.map(each => each.text)).toEqual([request('1.0'), '{"jsonrpc":"2.0","method":"n"}'])
  })

  test('10,000 messages are read, and one bad among them is refused', () => {
    const many = Array.from({length: 10_000}, (_, at) => request(String(at)))
    const read = readBody(`[${many.join(',')}]`) as readonly {id_text: string}[]
    expect(read).toHaveLength(10_000)
    expect(read[9_999]!.id_text).toBe('9999')
    expect(faultOf(() => readBody(`[${[...many, '5'].join(',')}]`)).reason).toBe('request_invalid')
  })

  test('an empty one, and one in one, are refused', () => {
    expect(faultOf(() => readBody('[]')).message).toMatch(/empty/)
    expect(faultOf(() => readBody(`[[${request('1')}]]`)).reason).toBe('request_invalid')
  })
})

function faultOf(run: () => unknown): McpFault {
  try {
    run()
  } catch (error) {
    if (error instanceof McpFault) return error
    throw error
  }
  throw new Error('nothing was refused')
}
