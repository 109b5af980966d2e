import {gzipSync} from 'node:zlib'
import {chatReply} from '../support/provider.ts'
import {chunked} from './http.ts'
import {type Reply, silence, stream, whole} from './provider.ts'
import {TEXT_ROUTES} from './routes.ts'
import type {Row, RowAsk} from './scene.ts'

const CHAT = TEXT_ROUTES[0]!
const BODY = {model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}]}
const ANSWER = whole(chatReply('gpt-4o-mini'))
const A = {'x-gateway-provider': '@a'}
const JSON_TYPE = {'content-type': 'application/json'}

const row = (name: string, ask: Partial<RowAsk>, a: readonly Reply[] = [ANSWER]): Row => ({
  name,
  asks: [{body: BODY, ...ask}],
  a,
})
const along = (config: object, headers: Record<string, string> = {}) => ({
  'x-gateway-config': JSON.stringify(config),
  ...headers,
})
const when = (query: object, goes: string) =>
  Object.fromEntries([
    ['query', query],
    ['then', goes],
  ])

/** Requests that are refused, and by whom. */
const refused: readonly Row[] = [
  row('no provider', {}),
  row('an unknown provider', {headers: {'x-gateway-provider': '@nobody'}}),
  row('an unknown kind', {headers: {'x-gateway-provider': 'nobody'}}),
  row('a config that is no JSON', {headers: {'x-gateway-config': '{'}}),
  row('a config of another kind', {headers: along({strategy: {mode: 'fallback'}})}),
  row('an unknown config', {headers: {'x-gateway-config': 'pc-nobody-000000'}}),
  row('a body that is no JSON', {headers: {...A, ...JSON_TYPE}, body: '{"model":'}),
  row('a body that is a list', {headers: {...A, ...JSON_TYPE}, body: '[]'}),
  row('no messages', {headers: A, body: {model: 'm'}}),
  row('no body', {headers: A, body: ''}),
  row('a method that is not served', {method: 'PUT', headers: A}),
  row('a route that comes later', {path: '/v1/otel/v1/metrics', headers: A}),
  row('metadata that is no JSON', {headers: {...A, 'x-gateway-metadata': '{'}}),
  row('a custom host inside', {
    headers: {'x-gateway-provider': 'openai', 'x-gateway-custom-host': 'http://169.254.169.254/v1'},
  }),
  row('a form without its boundary', {
    path: '/v1/files',
    headers: {...A, 'content-type': 'multipart/form-data'},
    body: 'x',
  }),
  {...row('a key without rights', {headers: A}), key: {scopes: ['logs.list']}},
]

/** Requests in other clothes, with the same meaning. */
const spelled: readonly Row[] = [
  row('by the model', {body: {...BODY, model: '@a/gpt-4o-mini'}}),
  row('by the older prefix', {
    headers: {'x-portkey-virtual-key': 'a', 'x-portkey-metadata': '{"_user":"u","team":"blue"}'},
  }),
  row('with metadata and a span', {
    headers: {
      ...A,
      'x-gateway-metadata': '{"_user":"u","team":"blue"}',
      'x-gateway-span-id': 'span-1',
      'x-gateway-parent-span-id': 'span-0',
    },
  }),
  row('with headers of the client', {
    headers: {
      ...{...A, 'x-mine': '1', 'x-secret': 's', cookie: 'a=b', 'openai-organization': 'org', 'user-agent': 'client/1'},
      ...{'x-gateway-forward-headers': 'x-mine, x-secret, host', 'x-gateway-sensitive-headers': 'x-secret'},
    },
  }),
  row('in chunks', {
    headers: {...A, ...JSON_TYPE, 'transfer-encoding': 'chunked'},
    body: Buffer.concat([chunked([JSON.stringify(BODY)]), Buffer.from('0\r\n\r\n')]),
  }),
  row('in gzip', {headers: {...A, ...JSON_TYPE, 'content-encoding': 'gzip'}, body: gzipSync(JSON.stringify(BODY))}),
  row('on a connection that ends', {headers: {...A, connection: 'close'}}),
  row('number for number', {
    headers: {...A, ...JSON_TYPE},
    body: '{ "model":"gpt-4o-mini", "seed": 12345678901234567890, "temperature":1.0, "messages":[{"role":"user","content":"\\u00e9"}] }',
  }),
  row('by the key of the caller', {
    headers: {
      'x-gateway-provider': 'openai',
      'x-gateway-custom-host': 'http://{a}/v1',
      authorization: 'Bearer sk-of-the-client',
    },
  }),
  row('without bodies in the log', {headers: {...A, 'x-gateway-debug': 'false'}}),
  row('models of the gateway', {method: 'GET', path: '/v1/models', body: ''}),
  row('strict compliance off', {headers: {...A, 'x-gateway-strict-open-ai-compliance': 'false'}}),
  row('a stream whose usage was not asked for', {headers: A, body: {...BODY, stream: true}}, [stream(CHAT.events!)]),
  row('a stream with its usage', {headers: A, body: {...BODY, stream: true, stream_options: {include_usage: true}}}, [
    stream(CHAT.events!),
  ]),
  row('usage that nobody says', {headers: A}, [whole({...chatReply('gpt-4o-mini'), usage: undefined})]),
  row('a model without a price', {headers: A, body: {...BODY, model: 'nobody-knows'}}, [
    whole(chatReply('nobody-knows')),
  ]),
  row('an answer of no kind', {headers: A}, [whole('')]),
  row('an answer that redirects', {headers: A}, [
    whole('', {status: 302, headers: {location: 'https://example.com/'}}),
  ]),
  row('an answer with cookies and other lines', {headers: A}, [
    whole(chatReply('gpt-4o-mini'), {
      headers: {
        'set-cookie': 'gateway_session=1',
        server: 'x',
        'x-gateway-trace-id': 'theirs',
        'openai-processing-ms': '7',
      },
    }),
  ]),
]

/** Ways through a config. */
const routed: readonly Row[] = [
  row('parameters put over', {headers: along({provider: '@a', override_params: {temperature: 0, model: 'gpt-4o'}})}),
  row('parameters that are dropped', {
    headers: along({provider: '@a', drop_params: ['seed']}),
    body: {...BODY, seed: 1},
  }),
  row('a target by its weight', {
    headers: along({
      strategy: {mode: 'loadbalance'},
      targets: [
        {provider: '@b', weight: 0},
        {provider: '@a', weight: 1},
      ],
    }),
  }),
  row('a target by a condition', {
    headers: along(
      {
        strategy: {
          mode: 'conditional',
          conditions: [when({'metadata.team': {$eq: 'blue'}}, 'second')],
          default: 'first',
        },
        targets: [
          {name: 'first', provider: '@b'},
          {name: 'second', provider: '@a'},
        ],
      },
      {'x-gateway-metadata': '{"team":"blue"}'},
    ),
  }),
  row('targets within targets', {
    headers: along({
      strategy: {mode: 'fallback', on_status_codes: [503]},
      targets: [{strategy: {mode: 'fallback'}, targets: [{provider: '@b'}]}, {provider: '@a'}],
    }),
  }),
  row('a cache that is asked anew', {
    headers: {...along({provider: '@a', cache: {mode: 'simple'}}), 'x-gateway-cache-force-refresh': 'true'},
  }),
  row('headers of the config', {headers: along({provider: '@a', forward_headers: ['x-mine']}, {'x-mine': '1'})}),
  row('a warning', {headers: along({provider: '@a', nothing_known: 1})}),
  {...row('a timeout in its header', {headers: {...A, 'x-gateway-request-timeout': '400'}}), a: [silence]},
  row('guardrails that put back', {
    headers: along({
      provider: '@a',
      input_guardrails: [{'default.pii': {categories: ['EMAIL_ADDRESS'], redact: true}}],
    }),
    body: {...BODY, messages: [{role: 'user', content: 'write to ann@example.com'}]},
  }),
]

export const OTHERS: Readonly<Record<string, readonly Row[]>> = {refused, spelled, routed}
