import {expect, test} from 'vitest'
import {list} from '../../../src/providers/registry.ts'
import {sent} from './ask.ts'
import {bearerChat, ENGINES} from './chat-rows.ts'
import {bearer, chat, JSON_TYPE, ROWS} from './rows.ts'

test.each(bearerChat)('%s takes chat as it is, below %s', async (slug, url) => {
  const {headers, ...rest} = await sent(slug, {body: chat})
  expect(rest).toEqual({method: 'POST', url, body: chat})
  expect(headers).toEqual(bearer)
})

test.each(ENGINES)('%s is asked at the host that its operator names, without a key', async slug => {
  expect(await sent(slug, {body: chat, key: null, custom_host: 'http://engine.test:8000/v1'})).toEqual({
    method: 'POST',
    url: 'http://engine.test:8000/v1/chat/completions',
    headers: JSON_TYPE,
    body: chat,
  })
})

test.each(ROWS.map(row => [row.slug, row.expected.url, row] as const))(
  '%s %s',
  async (slug, _url, {expected, ...asked}) => {
    expect(await sent(slug, asked)).toEqual(expected)
  },
)

test('every provider of the catalogue is in one of these tables, or signs its requests', () => {
  const tested = new Set([...bearerChat.map(([slug]) => slug), ...ENGINES, ...ROWS.map(({slug}) => slug)])
  const signed = ['oracle', 'sagemaker', 'demo'] // logins.test.ts; the demo answers in this process
  expect(list().flatMap(({slug}) => (tested.has(slug) || signed.includes(slug) ? [] : slug))).toEqual([])
})

test('realtime is had by these alone', () => {
  expect(list().flatMap(({slug, realtime}) => (realtime ? [[slug, realtime.path]] : []))).toEqual([
    ['azure-ai', '/realtime'],
    ['azure-openai', '/realtime'],
    ['openai', '/realtime'],
    ['x-ai', '/realtime'],
  ])
})
