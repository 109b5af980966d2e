import {gzipSync} from 'node:zlib'
import {type Reply, silence, stream, whole} from './provider.ts'
import {eventsOf, type Route, streamed} from './routes.ts'
import type {Row, RowAsk} from './scene.ts'

/** How a call ends: the row that it makes of a route, null where it makes no sense there. Rows are named behind it. */
export type Ending = (route: Route) => Omit<Row, 'name'> | null

const along = (ask: Partial<RowAsk>, config: object): Partial<RowAsk> => ({
  ...ask,
  headers: {...ask.headers, 'x-gateway-config': JSON.stringify(config)},
})
const to = ({to}: Route, ask: Partial<RowAsk>): Partial<RowAsk> => ({
  ...ask,
  headers: {'x-gateway-provider': `@${to}`, ...ask.headers},
})
const target = ({to}: Route) => ({provider: `@${to}`})
const ifStreams =
  (ending: Ending): Ending =>
  route =>
    route.events ? ending(route) : null
const ifText =
  (ending: (route: Route & {says: NonNullable<Route['says']>}) => Omit<Row, 'name'>): Ending =>
  ({says, ...route}) =>
    says ? ending({...route, says}) : null

/** Long enough for a call to come to its provider on a busy machine, and it is waited for: few routes have it. */
const TIMEOUT_MS = 400
const TIMED: ReadonlySet<string> = new Set(['chat', 'chat to Anthropic', 'messages', 'responses'])
const ifTimed =
  (ending: Ending): Ending =>
  route =>
    TIMED.has(route.name) ? ending(route) : null

const LIMITED = whole(
  {error: {message: 'Too much.', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded'}},
  {status: 429, headers: {'retry-after-ms': '0', 'x-ratelimit-remaining-requests': '0'}},
)
const zipped = (reply: Reply, type = 'application/json') =>
  whole(gzipSync(reply.body), {type, headers: {'content-encoding': 'gzip'}})
const CACHE = {mode: 'simple', max_age: 3600}
const DENIES = [{'default.contains': {words: ['forbidden'], operator: 'none'}, deny: true}]
const WARNS = [{'default.contains': {words: ['Danube', 'forbidden'], operator: 'none'}, deny: false}]
const REDACTS = [{'default.regexReplace': {rule: '/\\d{3}-\\d{4}/g', redactText: '[GONE]'}}]
const NO_RIVER = [{'default.contains': {words: ['Danube'], operator: 'none'}, deny: true}]

export const PLAIN: Readonly<Record<string, Ending>> = {
  whole: route => ({asks: [to(route, route.ask)], a: [route.answer]}),
  stream: ifStreams(route => ({asks: [to(route, streamed(route))], a: [eventsOf(route)]})),
  gzip: route => ({
    asks: [to(route, {...route.ask, headers: {...route.ask.headers, 'accept-encoding': 'gzip'}})],
    a: [zipped(route.answer)],
  }),
  'gzip stream': ifStreams(route => ({
    asks: [to(route, {...streamed(route), headers: {...route.ask.headers, 'accept-encoding': 'gzip'}})],
    a: [zipped(eventsOf(route), 'text/event-stream')],
  })),
  error: route => ({asks: [to(route, route.ask)], a: [LIMITED]}),
  'error page': route => ({
    asks: [to(route, route.ask)],
    a: [whole('<html>Bad</html>', {status: 502, type: 'text/html'})],
  }),
  timeout: ifTimed(route => ({
    asks: [along(route.ask, {...target(route), request_timeout: TIMEOUT_MS})],
    a: [silence],
  })),
  gone: route => ({asks: [{...to(route, route.ask), leaves: 'once heard'}], a: [silence]}),
  broken: route => ({asks: [to(route, route.ask)], a: [{...silence, ends: 'breaks'}]}),
}

export const CROSSED: Readonly<Record<string, Ending>> = {
  retry: route => ({
    asks: [along(route.ask, {...target(route), retry: {attempts: 2, use_retry_after_header: true}})],
    a: [LIMITED, route.answer],
  }),
  'retries all used': ifText(route => ({
    asks: [along(route.ask, {...target(route), retry: {attempts: 1, use_retry_after_header: true}})],
    a: [LIMITED, LIMITED],
  })),
  fallback: route => ({
    asks: [along(route.ask, {strategy: {mode: 'fallback'}, targets: [{provider: '@b'}, target(route)]})],
    a: [route.answer],
    b: [whole({error: {message: 'Overloaded.'}}, {status: 503})],
  }),
  'fallback from a timeout': ifTimed(route => ({
    asks: [
      along(route.ask, {
        strategy: {mode: 'fallback'},
        targets: [{provider: '@b', request_timeout: TIMEOUT_MS}, target(route)],
      }),
    ],
    a: [route.answer],
    b: [silence],
  })),
  'stream broken before its first event': ifStreams(route => ({
    asks: [along(streamed(route), {strategy: {mode: 'fallback'}, targets: [{provider: '@b'}, target(route)]})],
    a: [eventsOf(route)],
    b: [stream([], {ends: 'breaks'})],
  })),
  'stream broken': ifStreams(route => ({
    asks: [to(route, streamed(route))],
    a: [stream(route.events!.slice(0, 2), {ends: 'breaks'})],
  })),
  'stream timed out': ifTimed(route => ({
    asks: [along(streamed(route), {...target(route), request_timeout: TIMEOUT_MS})],
    a: [silence],
  })),
  'stream left': ifStreams(route => ({
    asks: [{...to(route, streamed(route)), leaves: 'at first bytes'}],
    a: [stream(route.events!.slice(0, -2), {ends: 'hangs'})],
  })),
  cache: route => ({
    asks: [along(route.ask, {...target(route), cache: CACHE}), along(route.ask, {...target(route), cache: CACHE})],
    a: [route.answer, route.answer],
  }),
  'cache of a stream': ifStreams(route => ({
    asks: [streamed(route), streamed(route), route.ask].map(ask =>
      along(ask, {...target(route), cache: CACHE, metadata: {}}),
    ),
    a: [eventsOf(route), eventsOf(route), route.answer],
  })),
  followed: ifText(route => ({
    asks: [
      along(route.ask, {...target(route), cache: CACHE}),
      {...along(route.ask, {...target(route), cache: CACHE}), joins: true},
    ],
    a: [route.answer, route.answer],
  })),
  'followed stream': ifStreams(route => ({
    asks: [
      along(streamed(route), {...target(route), cache: CACHE}),
      {...along(streamed(route), {...target(route), cache: CACHE}), joins: true},
    ],
    a: [eventsOf(route), eventsOf(route)],
  })),
  'request denied': ifText(route => ({
    asks: [along({...route.ask, body: route.says('a forbidden thing')}, {...target(route), input_guardrails: DENIES})],
  })),
  'request redacted': ifText(route => ({
    asks: [along({...route.ask, body: route.says('call 555-1234 now')}, {...target(route), input_guardrails: REDACTS})],
    a: [route.answer],
  })),
  'answer denied': ifText(route => ({
    asks: [along(route.ask, {...target(route), output_guardrails: NO_RIVER})],
    a: [route.answer],
  })),
  'answer warned of': ifText(route => ({
    asks: [along(route.ask, {...target(route), output_guardrails: WARNS})],
    a: [route.answer],
  })),
  'answer rewritten': ifText(route => ({
    asks: [along(route.ask, {...target(route), output_guardrails: REDACTS})],
    a: [route.answer],
  })),
  ...judgedStreams(),
  'strict limit reached': ifText(route => ({
    key: {usage_limits: {type: 'tokens', credit_limit: 2, enforcement: 'strict'}},
    asks: [to(route, route.ask)],
    a: [route.answer],
  })),
  'strict limit kept': ifText(route => ({
    key: {usage_limits: {type: 'tokens', credit_limit: 100_000, enforcement: 'strict'}},
    asks: [to(route, route.ask)],
    a: [route.answer],
  })),
  'stream under a strict limit': ifStreams(route => ({
    key: {usage_limits: {type: 'cost', credit_limit: 1, enforcement: 'strict'}},
    asks: [to(route, streamed(route))],
    a: [eventsOf(route)],
  })),
  'rate limit': ifText(route => ({
    key: {rate_limits: [{type: 'requests', unit: 'rpd', value: 1}]},
    asks: [to(route, route.ask), to(route, route.ask)],
    a: [route.answer],
  })),
}

/** Streams that guardrails judge, in each way of doing so. */
function judgedStreams(): Record<string, Ending> {
  const modes = ['after', 'window', 'buffer'] as const
  const checks = {denied: NO_RIVER, rewritten: REDACTS} as const
  return Object.fromEntries(
    modes.flatMap(stream_mode =>
      Object.entries(checks).map(([end, hooks]) => [
        `stream ${end}, ${stream_mode}`,
        ifStreams(route =>
          route.says
            ? {
                asks: [
                  along(streamed(route), {
                    ...target(route),
                    output_guardrails: hooks.map(hook => ({...hook, stream_mode})),
                  }),
                ],
                a: [eventsOf(route)],
              }
            : null,
        ),
      ]),
    ),
  )
}

/** The rows of `route` for these endings. */
export function rowsOf(route: Route, endings: Readonly<Record<string, Ending>>): Row[] {
  return Object.entries(endings).flatMap(([name, ending]) => {
    const row = route.is_ours && name !== 'whole' ? null : ending(route)
    return row ? [{...row, name: `${route.name}: ${name}`}] : []
  })
}
