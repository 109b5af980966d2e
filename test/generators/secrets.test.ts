import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import {OPTIONS, type OptionName} from '../../src/providers/option-table.ts'
import {optionsFor, optionsOfSettings} from '../../src/providers/options.ts'
import type {ProxyServices} from '../../src/proxy/services.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {HOUSES, otherValue, PEM, PLACES} from '../support/places.ts'
import {forRing, generated} from '../support/ring.ts'
import {type Dialled, dialler} from './secrets/dialler.ts'
import {type RequestCase, type Said, WAYS} from './secrets/ways.ts'

/**
 * Every option that decides where a call of a provider goes or what it logs in with × every way in which a caller may
 * say it: no key, header, token or signature of an integration, and nothing of the gateway's own identity, reaches a
 * place that the integration's row does not name.
 */
const known = vi.hoisted(() => ({services: null as unknown}))
vi.mock(import('../../src/proxy/proxy.ts'), async original => {
  const {createProxy} = await original()
  return {
    createProxy: on => {
      known.services = on
      return createProxy(on)
    },
  }
})

const KEY = 'SECRET-key-0123456789'
const ALL = [
  ...PLACES.map(place => ({...place, key: place.keyed ? KEY : null})),
  ...HOUSES.map(place => ({...place, key: null})),
]
let gateway: TestGateway
let dial: ReturnType<typeof dialler>
let workspace: {id: string}
/** A key that may write integrations and providers, and is no admin's. */
let manager: string
const usual = new Map<string, Dialled>()
let cases = 0
beforeAll(async () => {
  gateway = await startGateway()
  ;[workspace] = (await gateway.admin<{data: [{id: string}]}>('GET', '/admin/workspaces')).data
  const {id} = await gateway.admin<{id: string}>('GET', '/admin/organisation')
  for (const {name, kind, settings, key} of ALL) {
    const configurations = {custom_headers: {'x-secret': 'SECRET-header-0123456789'}, ...settings}
    await gateway.admin('POST', '/integrations', {
      name,
      slug: name,
      ai_provider_id: kind,
      key,
      configurations,
      workspace_id: workspace.id,
    })
  }
  const verbs = ['create', 'read', 'update']
  const scopes = ['workspace_integrations', 'providers'].flatMap(noun => verbs.map(verb => `${noun}.${verb}`))
  manager = (
    await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
      name: 'm',
      workspace_id: workspace.id,
      scopes,
    })
  ).key
  dial = dialler(known.services as ProxyServices, workspace.id, id)
  for (const {name} of ALL) {
    const [only] = await dial({headers: {'x-gateway-provider': `@${name}`}}, pathOf(name))
    expect(only, name).toMatchObject({refusal: null, warning: null})
    usual.set(name, only!)
  }
}, 60_000)
afterAll(async () => {
  generated('secrets and places', cases)
  await gateway.close()
})

const CREDENTIAL = new RegExp(`SECRET-|TOKEN-|HOUSE|${PEM.split('\n')[1]!.slice(0, 40)}|eyJ|Signature version`)
const HEADERS: ReadonlySet<string> = new Set(
  Object.entries(OPTIONS).flatMap(([name, row]) => ('in_header' in row ? [] : [name])),
)
const LOGIN_HEADERS = ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key', 'x-amz-security-token', 'x-secret']

const pathOf = (name: string) => (name === 'sagemaker' ? '/v1/proxy/endpoints/e/invocations' : '/v1/chat/completions')

/** What went where it should not: nothing of the integration may be told to another place than that of its row. */
function leaks(name: string, {origin, text, headers, asked_tokens}: Dialled): string[] {
  const own = usual.get(name)!
  const found: string[] = []
  if (origin !== null && origin !== own.origin) {
    if (CREDENTIAL.test(text)) found.push(`${origin} is told ${CREDENTIAL.exec(text)![0]}`)
    for (const header of LOGIN_HEADERS)
      if (headers[header] !== undefined && !String(headers[header]).endsWith('mine'))
        found.push(`${origin} is told ${header}`)
  }
  const known_tokens = own.asked_tokens.map(({url}) => url)
  for (const {url} of asked_tokens) if (!known_tokens.includes(url)) found.push(`${url} is asked for a token`)
  return found
}

/** The header is told and the call is the integration's own, as if it had not said so. */
function misses(way: RequestCase, said: Said, name: string, dialled: Dialled): string[] {
  const own = usual.get(name)!
  const {refusal, origin, warning, headers} = dialled
  const response = warning?.includes(said.name.replaceAll('_', '-')) ?? false
  const can_be_said = said.name === 'custom_host' || HEADERS.has(said.name)
  if (way.comes_to === 'unused') {
    if (refusal !== null || origin !== own.origin) return [`${refusal ?? origin}, not ${own.origin}`]
    if (can_be_said && !response) return [`the warning is ${warning}`]
    return Object.keys(own.headers).filter(header => !(header in headers))
  }
  const is_named = refusal !== null && (refusal.includes(said.name) || refusal.startsWith('config.invalid'))
  if (way.comes_to === 'refused') return is_named ? [] : [`${refusal ?? `sent to ${origin}`}`]
  // with a key of the caller's the host is free, and nothing else
  return refusal !== null || said.name === 'custom_host' || !can_be_said ? [] : [`sent to ${origin}`]
}

const DECIDING = (kind: string) => [
  'custom_host' as const,
  ...optionsFor(kind).filter(name => OPTIONS[name].decides !== undefined),
]

interface Case {
  readonly way: string
  readonly name: string
  readonly said: Said
}
const CASES: readonly Case[] = ALL.flatMap(({name, kind}) =>
  DECIDING(kind).flatMap(option =>
    Object.keys(WAYS).map(way => ({way, name, said: {slug: `@${name}`, name: option, value: otherValue(option)}})),
  ),
)

test('nothing of an integration goes where a caller says', async () => {
  const wrong: string[] = []
  for (const [at, {way, name, said}] of CASES.entries()) {
    if (at % forRing({own: 29, ci: 3, full: 1}) !== 0) continue
    const {settings} = ALL.find(place => place.name === name)!
    if (optionsOfSettings(settings)[said.name] === said.value) continue
    const asked = WAYS[way]!.asked(said)
    if (!asked) continue
    cases++
    const saved = asked.saved && asked.config ? await save(asked.config) : undefined
    if (saved === null) continue // not taken, which is as well
    for (const dialled of await dial(asked, pathOf(name), saved)) {
      if (dialled.refusal === null && dialled.slug === null) continue // the one beside it
      const faults = [...leaks(name, dialled), ...misses(WAYS[way]!, said, name, dialled)]
      if (faults.length) wrong.push(`${name} ${said.name} by ${way}: ${faults.join('; ')}`)
    }
  }
  expect(wrong.slice(0, 30), `${wrong.length} of ${cases}`).toEqual([])
}, 120_000)

test('what an integration says may be said again', async () => {
  const wrong: string[] = []
  for (const [at, {name, kind, settings}] of ALL.entries()) {
    if (at % forRing({own: 9, ci: 5, full: 1}) !== 0) continue
    const own = optionsOfSettings(settings)
    for (const option of DECIDING(kind)) {
      const value = option === 'custom_host' ? (settings.custom_host as string | undefined) : own[option as OptionName]
      if (value === undefined || /\n/.test(value)) continue
      for (const [way, {asked, comes_to}] of Object.entries(WAYS)) {
        if (comes_to === 'own' || way === 'saved config') continue
        const said = asked({slug: `@${name}`, name: option, value})
        if (!said || said.saved) continue
        cases++
        const dialled = (await dial(said, pathOf(name))).at(-1)!
        const is_unknown = dialled.refusal?.startsWith('config.invalid') && !dialled.refusal.includes('provider.bound')
        if (is_unknown) continue
        if (dialled.refusal !== null || dialled.warning !== null || dialled.origin !== usual.get(name)!.origin)
          wrong.push(`${name} ${option} by ${way}: ${dialled.refusal ?? dialled.warning ?? dialled.origin}`)
      }
    }
  }
  expect(wrong.slice(0, 30), `${wrong.length} of ${cases}`).toEqual([])
}, 120_000)

/** Who is no admin writes a row above an integration; where it is taken, what calls by it tell to whom. */
test('nothing of an integration goes where a row above it says', async () => {
  const wrong: string[] = []
  const own = {custom_headers: {'x-own': 'mine'}}
  let at = 0
  // another region of the vendor's is no other place to an integration
  for (const {name, kind} of ALL)
    for (const option of DECIDING(kind).filter(each => !each.endsWith('_region')))
      for (const said of [{[option]: otherValue(option)}, {[option]: otherValue(option), ...own}]) {
        const has_secret = 'custom_headers' in said
        const is_tried = at++ % forRing({own: 19, ci: 1, full: 1}) === 0
        if (!is_tried) continue
        cases++
        const slug = `row-${at}`
        const body = {name: slug, slug, integration_id: name, workspace_id: workspace.id, model_config: said}
        const reply = await write('POST', '/providers', body)
        if (reply.status === 200)
          wrong.push(
            ...(await leaksBy(
              {headers: {'x-gateway-provider': `@${slug}`}},
              name,
              `${name} ${option} by model_config`,
            )),
          )
        else if (reply.status !== 400) wrong.push(`${name} ${option} by model_config: ${reply.status}`)
        if (reply.status === 200 && option === 'custom_host' && !has_secret)
          wrong.push(`${name}: a host without a secret of its own was taken`)
        if (option !== 'custom_host') continue
        const model = `m-${at}`
        const configurations = said
        const put = await write('PUT', `/integrations/${name}/models`, {
          models: [{slug: model, enabled: true, is_custom: true, configurations}],
        })
        if (put.status !== (has_secret ? 200 : 400)) wrong.push(`${name} by a model: ${put.status} ${put.text}`)
        wrong.push(...(await leaksBy({headers: {'x-gateway-provider': `@${name}`}, model}, name, `${name} by a model`)))
      }
  expect(wrong.slice(0, 30), `${wrong.length} of ${cases}`).toEqual([])
}, 120_000)

async function leaksBy(asked: Parameters<typeof dial>[0], name: string, way: string): Promise<string[]> {
  const all = await dial(asked, pathOf(name))
  return all.flatMap(dialled => leaks(name, dialled)).map(leak => `${way}: ${leak}`)
}

async function write(method: string, path: string, body: object) {
  const headers = {'x-gateway-api-key': manager, 'content-type': 'application/json'}
  const reply = await fetch(`${gateway.url}/v1${path}`, {method, headers, body: JSON.stringify(body)})
  return {status: reply.status, text: await reply.text()}
}

/** The slug of a saved config; null where it is refused. */
async function save(config: object): Promise<string | null> {
  const reply = await gateway.app.inject({
    method: 'POST',
    url: '/v1/configs',
    body: {name: 'c', config, workspace_id: workspace.id},
  })
  const body = reply.body as {slug?: string; data?: {slug?: string}}
  return reply.status === 200 ? (body.slug ?? body.data?.slug ?? null) : null
}
