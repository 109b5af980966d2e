import {brotliCompressSync, gzipSync} from 'node:zlib'
import fc from 'fast-check'
import {expect, test} from 'vitest'
import {fromObject, toObject} from '../../../src/store/bodies/index.ts'
import type {LogBodiesTable} from '../../../src/store/tables/traffic.ts'
import {PLAIN_ROW} from '../../support/bodies.ts'

const OF = {organisation_id: 'org-1', workspace_slug: 'blue', created_at: PLAIN_ROW.created_at, format: 'v1'}
const rowOf = (row: Partial<LogBodiesTable>): LogBodiesTable => ({...PLAIN_ROW, log_id: 'log-1', ...row})
const written = async (row: Partial<LogBodiesTable>) => {
  const object = await toObject(rowOf(row), OF)
  return {object, again: fromObject('log-1', PLAIN_ROW.created_at, object)}
}

test('an object is JSON for whoever reads the bucket', async () => {
  const {object} = await written({
    request_headers: '{"content-type":"application/json"}',
    request_body: Buffer.from('{"model":"gpt-5","seed":9007199254740993}'),
    response_body: gzipSync('{"id":"c-1"}'),
    response_encoding: 'gzip',
    cut: 1,
  })
  expect(JSON.parse(object.toString())).toEqual({
    _id: 'log-1',
    organisation_id: 'org-1',
    workspace_slug: 'blue',
    created_at: PLAIN_ROW.created_at,
    log_format: 'v1',
    is_cut: true,
    request: {headers: {'content-type': 'application/json'}, body: {model: 'gpt-5', seed: expect.any(Number)}},
    response: {headers: {}, body: {id: 'c-1'}},
  })
  expect(object.toString()).toContain('"seed":9007199254740993')
})

test.each([
  ['none', null],
  ['empty', ''],
  ['JSON with its spaces and numbers', '{ "n": 1.0e2,\n "n": 12345678901234567890 }'],
  ['a list', '[1, 2]'],
  ['a text that is a JSON string', '"text"'],
  ['a number', '12'],
  ['JSON with a line behind it', '{"a":1}\n'],
  ['JSON that was cut', '{"a":[1,'],
  ['what only looks like JSON', '{"a":}'],
  ['events', 'data: {"a":1}\n\ndata: [DONE]\n\n'],
  ['text', 'Überraschung \u2028 \\ " \u0000'],
])('a body comes back byte for byte: %s', async (_, text) => {
  const body = text === null ? null : Buffer.from(text)
  const {again, object} = await written({request_body: body, response_body: body})
  expect(again).toEqual(rowOf({request_body: body, response_body: body}))
  expect(() => JSON.parse(object.toString())).not.toThrow()
})

test('any bytes come back, as what they were', async () => {
  const bytes = fc.uint8Array({maxLength: 200})
  const text = fc.string({unit: 'binary', maxLength: 200}).map(said => new Uint8Array(Buffer.from(said)))
  const json = fc.json().map(said => new Uint8Array(Buffer.from(said)))
  const body = fc.oneof(bytes, text, json, fc.constant(null))
  await fc.assert(
    fc.asyncProperty(body, body, fc.constantFrom(0, 1), async (request_body, response_body, cut) => {
      const {again} = await written({request_body, response_body, cut})
      const plain = (row: Partial<LogBodiesTable>) =>
        [row.request_body, row.response_body].map(each => each && [...each])
      expect([plain(again), again.cut]).toEqual([plain({request_body, response_body}), cut])
    }),
  )
})

test('an encoded body comes back decoded, and as it was where it cannot be', async () => {
  const text = '{"id":"c-1"}'
  const {again: plain} = await written({response_body: brotliCompressSync(text), response_encoding: 'br'})
  expect([plain.response_body?.toString(), plain.response_encoding]).toEqual([text, null])
  const {again: kept} = await written({response_body: Buffer.from('no gzip'), response_encoding: 'gzip'})
  expect([kept.response_body?.toString(), kept.response_encoding]).toEqual(['no gzip', 'gzip'])
  const cut = gzipSync('x'.repeat(50_000)).subarray(0, 40)
  const {again: beginning} = await written({response_body: cut, response_encoding: 'gzip', cut: 1})
  expect([/^x+$/.test(String(beginning.response_body)), beginning.response_encoding, beginning.cut]).toEqual([
    true,
    null,
    1,
  ])
})

test.each([
  '',
  'null',
  '[]',
  '{}',
  '{"request":{"headers":{}},"response":1}',
  '{"request":{},"response":{}}',
  '{"request":{"headers":{}}',
])('what no gateway wrote is no object of ours: %s', object => {
  expect(() => fromObject('log-1', PLAIN_ROW.created_at, Buffer.from(object))).toThrow()
})
