import {afterAll, beforeAll, expect, test} from 'vitest'
import {OPTIONS, type OptionName} from '../../src/providers/option-table.ts'
import {GRAMMARS, headerOf, optionsFor} from '../../src/providers/options.ts'
import {list} from '../../src/providers/registry.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'
import {forRing, generated} from '../support/ring.ts'

/**
 * Every option of every provider × values that are none × where it is said × whether the place is the provider's own or
 * a custom host. A value of a form that the option does not take is 400 with the option's name, and nothing leaves; no
 * value at all is 500.
 */
let gateway: TestGateway
let provider: FakeProvider
let cases = 0
beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
})
afterAll(async () => {
  generated('provider options', cases)
  await gateway.close()
  await provider.close()
})

const VALUES = {
  'a URL with credentials': 'https://user:word@models.example/v1',
  'a fragment': 'a#b',
  'a query': 'a?b=c',
  'a climb': '../../admin',
  'two dots': '..',
  'an encoded climb': '%2e%2e%2fadmin',
  'a host and more': 'evil.example/',
  'a port': 'a:1',
  'a tab': 'a\tb',
  'bytes beyond ASCII': 'r\u00e9gion',
  'an at sign': 'a@evil.example',
  'a punycode name': 'xn--80ak6aa92e',
  'an ftp URL': 'ftp://models.example',
  'a space': 'a b',
  'much too long': 'a'.repeat(9000),
  braces: '{"a":1}',
  'a word': 'nonsense',
} as const
const TYPES = {'a number': 7, 'a list': ['a'], 'an object': {a: 1}, 'true, where it is no switch': true} as const

interface Case {
  readonly slug: string
  readonly option: OptionName
  readonly what: string
  readonly value: unknown
  readonly by: 'header' | 'config'
  readonly custom: boolean
}

function casesOf(): readonly Case[] {
  const all: Case[] = []
  for (const {slug} of list()) {
    for (const option of optionsFor(slug)) {
      for (const custom of [false, true]) {
        if (OPTIONS[option].in_header !== false)
          for (const [what, value] of Object.entries(VALUES))
            all.push({slug, option, what, value, by: 'header', custom})
        for (const [what, value] of Object.entries({...VALUES, ...TYPES}))
          all.push({slug, option, what, value, by: 'config', custom})
      }
    }
  }
  return all.filter((_, at) => at % forRing({own: 23, ci: 2, full: 1}) === 0)
}

/** True for a value that the option may well have: it is not sent to a provider's own place, which is elsewhere. */
function isApt({option, value, by}: Case): boolean {
  if (
    by === 'config' &&
    (option === 'anthropic_beta' ? Array.isArray(value) : value === true && OPTIONS[option].takes === 'flag')
  )
    return true
  return (
    typeof value === 'string' &&
    GRAMMARS[OPTIONS[option].takes][0].test(value) &&
    !(OPTIONS[option].takes === 'label' && /^xn--/.test(value))
  )
}

async function ask({slug, option, value, by, custom}: Case) {
  cases++
  const place = custom ? {custom_host: provider.url} : {}
  const config = by === 'config' ? {provider: slug, api_key: 'sk-0123456789', [option]: value, ...place} : {}
  const headers: Record<string, string> =
    by === 'config'
      ? {'x-gateway-config': Buffer.from(JSON.stringify(config)).toString('latin1')}
      : {
          'x-gateway-provider': slug,
          authorization: 'Bearer sk-0123456789',
          [`x-gateway-${headerOf(option)}`]: String(value),
          ...(custom ? {'x-gateway-custom-host': provider.url} : {}),
        }
  const body = JSON.stringify({model: 'm', messages: [{role: 'user', content: 'hi'}], prompt: 'hi', user: 'u'})
  const reply = await gateway.call('/v1/chat/completions', {
    method: 'POST',
    body,
    headers: {'content-type': 'application/json', ...headers},
  })
  return {status: reply.status, text: await reply.text()}
}

test('a wrong option is 400 with its name, wherever it is said', async () => {
  const failed: string[] = []
  for (const one of casesOf()) {
    const apt = isApt(one)
    if (apt && !one.custom) continue
    const before = provider.received.length
    const {status, text} = await ask(one)
    const left = provider.received.length > before
    const named = text.includes(one.option) || text.includes(headerOf(one.option))
    const fits = apt ? status !== 500 : status === 400 && named && !left
    if (!fits)
      failed.push(
        `${one.slug} ${one.option} (${one.what}, ${one.by}${one.custom ? ', custom host' : ''}): ${status} ${text.slice(0, 160)}`,
      )
  }
  expect(failed.slice(0, 40), `${failed.length} of ${cases}`).toEqual([])
}, 120_000)
