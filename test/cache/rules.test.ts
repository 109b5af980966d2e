import {describe, expect, test} from 'vitest'
import {type CacheQuestion, decideCache, isStateful, maxAge, mayStore} from '../../src/cache/rules.ts'
import {ENDPOINTS} from '../../src/schema/endpoints.ts'

const QUESTION: CacheQuestion = {
  rule: {max_age_s: 120},
  endpoint: 'chatComplete',
  method: 'POST',
  has_json: true,
  streams: false,
  is_stateful: false,
  debug_off: false,
  force_refresh: undefined,
  organisation_max_age_s: null,
}
const decide = (given: Partial<CacheQuestion> = {}) => decideCache({...QUESTION, ...given}).status

describe('the cache takes part', () => {
  test('where the target has it, the endpoint can be kept, and nobody says no', () => {
    expect(decideCache(QUESTION)).toEqual({status: 'MISS', max_age_ms: 120_000})
    expect(decide({streams: true})).toBe('MISS')
    for (const no of [
      {rule: null},
      {debug_off: true},
      {has_json: false},
      {is_stateful: true},
      {method: 'GET'},
      {streams: true, endpoint: 'embed'},
    ] as const)
      expect(decide(no)).toBe('DISABLED')
  })

  test('on these endpoints and no others', () => {
    const kept = ENDPOINTS.filter(({name, method}) => decide({endpoint: name, method}) !== 'DISABLED').map(
      ({name}) => name,
    )
    expect(kept).toEqual([
      'chatComplete',
      'complete',
      'embed',
      'messages',
      'messagesCountTokens',
      'createModelResponse',
      'rerank',
      'ocr',
      'imageGenerate',
      'moderate',
    ])
    expect(decide({endpoint: 'proxy'})).toBe('MISS')
    expect(decide({endpoint: 'proxy', method: 'GET'})).toBe('DISABLED')
  })

  test.each([
    ['true', 'REFRESH'],
    ['TRUE', 'REFRESH'],
    ['false', 'MISS'],
    ['1', 'MISS'],
    ['', 'MISS'],
    [undefined, 'MISS'],
  ])('with force refresh %s as %s', (force_refresh, status) => {
    expect(decide({force_refresh})).toBe(status)
    expect(decide({force_refresh, rule: null})).toBe('DISABLED')
  })
})

test.each([
  [null, null, 604_800],
  [null, 3600, 3600],
  [null, 30_000_000, 25_923_000],
  [null, 10, 60],
  [120, null, 120],
  [120, 3600, 120],
  [7200, 3600, 3600],
  [59, null, 60],
  [0, null, 60],
  [-5, null, 60],
  [90.9, null, 90],
  [9_000_000, null, 7_776_000],
  [9_000_000, 25_923_000, 7_776_000],
  [Number.NaN, null, 604_800],
  [Number.POSITIVE_INFINITY, null, 7_776_000],
])('max_age %s under a cap of %s is %i s', (asked, cap, seconds) => expect(maxAge(asked, cap)).toBe(seconds))

test('a response that continues another, or is made later, is not kept', () => {
  for (const body of [{previous_response_id: 'r'}, {conversation: {id: 'c'}}, {background: true}]) {
    expect(isStateful('createModelResponse', body)).toBe(true)
    expect(isStateful('chatComplete', body)).toBe(false)
  }
  expect(isStateful('createModelResponse', {previous_response_id: null, background: false})).toBe(false)
})

describe('an answer may be kept', () => {
  const JSON_TYPE = 'application/json'
  const CHOSEN = {choices: [{finish_reason: 'stop'}]}
  test.each([
    ['chatComplete', 200, JSON_TYPE, CHOSEN, true],
    ['chatComplete', 200, JSON_TYPE, {choices: []}, false],
    ['chatComplete', 200, 'application/json; charset=utf-8', CHOSEN, true],
    ['chatComplete', 200, 'application/problem+json', CHOSEN, true],
    ['chatComplete', 201, JSON_TYPE, CHOSEN, false],
    ['chatComplete', 246, JSON_TYPE, CHOSEN, false],
    ['chatComplete', 500, JSON_TYPE, CHOSEN, false],
    ['chatComplete', 200, 'text/html', CHOSEN, false],
    ['chatComplete', 200, 'application/x-ndjson', CHOSEN, false],
    ['chatComplete', 200, 'application/jsonp', CHOSEN, false],
    ['chatComplete', 200, undefined, CHOSEN, false],
    ['chatComplete', 200, JSON_TYPE, null, false],
    ['chatComplete', 200, JSON_TYPE, 'text', false],
    ['chatComplete', 200, JSON_TYPE, [], false],
    ['proxy', 200, JSON_TYPE, [], true],
    ['chatComplete', 200, JSON_TYPE, {error: {message: 'no'}}, false],
    ['chatComplete', 200, JSON_TYPE, {...CHOSEN, error: null}, true],
    ['chatComplete', 200, JSON_TYPE, {}, false],
    ['rerank', 200, JSON_TYPE, {}, true],
    ['chatComplete', 200, JSON_TYPE, {choices: [null, {finish_reason: 'error'}]}, false],
    ['messages', 200, JSON_TYPE, {type: 'error'}, false],
    ['createModelResponse', 200, JSON_TYPE, {status: 'completed', error: null}, true],
    ['createModelResponse', 200, JSON_TYPE, {status: 'incomplete'}, true],
    ['createModelResponse', 200, JSON_TYPE, {status: 'queued'}, false],
    ['createModelResponse', 200, JSON_TYPE, {status: 'failed'}, false],
  ] as const)('of %s with %i, %s, %j: %s', (endpoint, status, type, answer, may) =>
    expect(mayStore(endpoint, status, type, answer)).toBe(may),
  )
})
