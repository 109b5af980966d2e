import {describe, expect, test} from 'vitest'
import {NO_HOSTS} from '../../src/base/egress/hosts.ts'
import {readDestination} from '../../src/base/egress/target.ts'
import {find as findKind} from '../../src/providers/registry.ts'
import type {UpgradeRequest} from '../../src/proxy/realtime/upgrade-request.ts'
import {checkOffers, namedModel, opening} from '../../src/proxy/realtime/upstream-request.ts'
import type {ProxyServices} from '../../src/proxy/services.ts'
import type {Target} from '../../src/proxy/targets/target.ts'

const on = {version: '0', ignored: new Set()} as unknown as ProxyServices

function target(kind: string, base_url: string, more: Partial<Target> = {}): Target {
  return {
    provider: findKind(kind)!,
    managed: null,
    config_id: null,
    destination: readDestination(base_url, {kind: 'builtin'}, NO_HOSTS),
    key: 'sk-provider',
    headers: {},
    model: null,
    options: {},
    forward_headers: [],
    request_timeout_ms: null,
    option_path: 'config',
    ...more,
  } as unknown as Target
}

function offer(query: string, protocols: readonly string[] = []): UpgradeRequest {
  return {
    incoming: {
      headers: {},
      own: {prefix: 'x-gateway', values: {}},
      route: {endpoint: undefined, path: '/realtime', query},
    },
    credentials: {service_key: 'gk', from: 'own', provider_token: null},
    protocols,
  } as unknown as UpgradeRequest
}

const AZURE = 'https://my-resource.openai.azure.com/openai'

describe('where a session is opened', () => {
  // Sources: OpenAI "Realtime API with WebSocket", xAI "Voice Agent API", Microsoft Learn "GPT Realtime API via
  // WebSockets".
  test.each<[string, Target, string, string, Record<string, string>]>([
    [
      'OpenAI',
      target('openai', 'https://api.openai.com/v1'),
      '?model=gpt-realtime',
      '/v1/realtime?model=gpt-realtime',
      BEARER(),
    ],
    [
      'a model with a slug',
      target('openai', 'https://api.openai.com/v1'),
      '?model=%40voice/gpt-realtime',
      '/v1/realtime?model=gpt-realtime',
      BEARER(),
    ],
    [
      'a call by its id',
      target('openai', 'https://api.openai.com/v1'),
      '?call_id=rtc_1',
      '/v1/realtime?call_id=rtc_1',
      BEARER(),
    ],
    ['xAI', target('x-ai', 'https://api.x.ai/v1'), '?model=grok-voice', '/v1/realtime?model=grok-voice', BEARER()],
    [
      'Azure OpenAI with a dated version',
      target('azure-openai', AZURE, {
        options: {azure_api_version: '2024-10-01-preview', azure_deployment_id: 'my-realtime'},
      }),
      '?model=gpt-4o-realtime-preview',
      '/openai/realtime?api-version=2024-10-01-preview&deployment=my-realtime',
      {'api-key': 'sk-provider'},
    ],
    [
      'Azure OpenAI with the undated version',
      target('azure-openai', AZURE, {options: {azure_deployment_id: 'my-realtime'}}),
      '?model=gpt-realtime',
      '/openai/v1/realtime?model=my-realtime',
      {'api-key': 'sk-provider'},
    ],
    [
      'Azure OpenAI as its own clients ask',
      target('azure-openai', AZURE),
      '?deployment=my-realtime',
      '/openai/v1/realtime?model=my-realtime',
      {'api-key': 'sk-provider'},
    ],
  ])('%s', (_, its, query, path, credential) => {
    checkOffers(its)
    const {path: said, headers} = opening(its, offer(query), on)
    const {'sec-websocket-key': _key, 'sec-websocket-version': _version, 'user-agent': _agent, ...rest} = headers
    expect([said, rest]).toEqual([path, credential])
  })

  function BEARER() {
    return {authorization: 'Bearer sk-provider'}
  }

  test.each(['anthropic', 'bedrock', 'groq', 'demo'])('not at %s', kind => {
    expect(() => checkOffers({provider: findKind(kind)} as Target)).toThrow(
      `The provider ${kind} does not offer GET /realtime.`,
    )
  })

  test('refuses what could leave the place', () => {
    const its = target('azure-openai', AZURE, {
      options: {azure_deployment_id: '../x', azure_api_version: '2024-10-01-preview'},
    })
    expect(() => opening(its, offer('?model=m'), on)).toThrow(/azure_deployment_id/)
  })

  test('a client’s own token goes to the one place it calls, never to one of several', () => {
    const bare = (option_path: string) => target('openai', 'https://api.openai.com/v1', {key: null, option_path})
    const mine = {
      ...offer('?model=m'),
      credentials: {service_key: 'gk', from: 'own', provider_token: 'sk-mine'} as const,
    }
    expect(opening(bare('config'), mine, on).headers.authorization).toBe('Bearer sk-mine')
    expect(() => opening(bare('config.targets[0]'), mine, on)).toThrow(/needs credentials/)
  })

  test('reads the model from either name', () => {
    expect([namedModel('?model=@a/b/c'), namedModel('?deployment=d'), namedModel('')]).toEqual([
      {slug: 'a', model: 'b/c'},
      {slug: null, model: 'd'},
      {slug: null, model: null},
    ])
  })
})

test('no key and no cookie of the gateway leaves for a session, in whatever it stands', () => {
  const service_key = 'the-service-key-of-this-call-0123456789'
  const made = `gk-${'a1_-'.repeat(10)}xyz`
  const asked = offer(`?model=gpt-realtime&key=${service_key}&token=${made}`, [
    'realtime',
    `token.${made}`,
    'realtime.v1',
  ])
  const headers = {
    'x-tenant': `Bearer ${made}`,
    'x-portkey-api-key': service_key,
    cookie: `gateway_session=x; a=1`,
    'openai-beta': made,
    'x-mine': 'yes',
  }
  const listed = {...asked.incoming.own, values: {'forward-headers': Object.keys(headers).join(',')}}
  const incoming = {...asked.incoming, headers, own: listed}
  const credentials = {service_key, from: 'own', provider_token: null} as const
  const opened = opening(target('openai', 'https://api.openai.com/v1'), {...asked, incoming, credentials}, on)
  const {'sec-websocket-key': _, ...left} = opened.headers
  expect(opened.path).toBe('/v1/realtime?model=gpt-realtime')
  expect(left).toMatchObject({cookie: 'a=1', 'x-mine': 'yes', 'sec-websocket-protocol': 'realtime, realtime.v1'})
  expect(JSON.stringify(left)).not.toContain(service_key)
  expect(JSON.stringify(left)).not.toContain(made)
})
