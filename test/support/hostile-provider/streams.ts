import {type Asked, type CaseTable, chunked, type HostileReply, whole} from './reply.ts'
import {changed, SSE, usualEvents} from './usual.ts'

/**
 * Streams whose events are not the dialect's, or are framed in ways that few send. Each is a whole body, so that only
 * its events are odd.
 */
const streaming = (change: (events: readonly string[], asked: Asked) => readonly string[]) => {
  return (asked: Asked): HostileReply => chunked(change(usualEvents(asked), asked), {type: SSE})
}
/** The text of the whole stream, changed. */
const text = (change: (text: string) => string) => streaming(events => [change(events.join(''))])
/** Something between the first event and the others. */
const between = (...odd: readonly string[]) => streaming(([first, ...rest]) => [first!, ...odd, ...rest])
const DONE = 'data: [DONE]\n\n'
const OTHER_PATHS = ['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v2/chat', '/m:streamGenerateContent']
const WRONG_VALUES = [
  'null',
  '5',
  '[]',
  '{}',
  '"x"',
  '{"choices":null}',
  '{"choices":[null]}',
  '{"type":5}',
  '{"type":"unknown"}',
]
const MANY = 20_000
const MB = 1_000_000

export const STREAMS: CaseTable = {
  'stream-plain': streaming(events => events),
  'stream-as-json': asked => whole(usualEvents(asked).join('')),
  'stream-empty': () => whole('', {type: SSE}),
  'stream-of-spaces': () => whole('\n'.repeat(10_000), {type: SSE}),
  'stream-with-returns': text(all => all.replaceAll('\n', '\r')),
  'stream-with-crlf': text(all => all.replaceAll('\n', '\r\n')),
  'stream-with-mark': text(all => `\ufeff${all}`),
  'stream-without-spaces': text(all => all.replaceAll('data: ', 'data:')),
  'stream-with-ids': text(all => all.replaceAll('data: ', 'id: 1\0\nretry: 99999999999\nunknown: x\ndata: ')),
  'stream-data-in-lines': text(all => all.replaceAll('{"', '{\ndata: "')),
  'event-without-data': between('event: ping\n\n', 'event: error\n\n'),
  'event-without-name': text(all => all.replace(/^event: .*\n/gm, '')),
  'event-with-wrong-name': text(all => all.replace(/^event: .*$/gm, 'event: error')),
  'event-empty-data': between('data:\n\n', 'data: \n\n', 'data\n\n'),
  'event-bad-json': between('data: {bad\n\n'),
  'event-invalid-utf-8': asked => {
    const [first, ...rest] = usualEvents(asked)
    const bytes = Buffer.from(rest.join('').replaceAll('Wien', '\xff\xfe'), 'latin1')
    return chunked([first!, bytes], {type: SSE})
  },
  'event-wrong-values': between(...WRONG_VALUES.map(value => `data: ${value}\n\n`)),
  'event-deep': between(`data: ${'['.repeat(10_000)}${']'.repeat(10_000)}\n\n`),
  'event-of-1-mb': between(`data: {"x":"${'a'.repeat(MB)}"}\n\n`),
  'event-of-16-mb': between(`data: {"x":"${'a'.repeat(16 * MB)}"}\n\n`),
  'event-of-many-keys': between(`data: {${Array.from({length: 50_000}, (_, at) => `"k${at}":1`).join(',')}}\n\n`),
  'line-of-1-mb-without-colon': between(`${'a'.repeat(MB)}\n\n`),
  'done-first': streaming(events => [DONE, ...events]),
  'done-twice': streaming(events => [...events, DONE, DONE]),
  'done-only': () => whole(DONE, {type: SSE}),
  'done-missing': streaming(events => events.slice(0, -1)),
  'events-behind-the-end': streaming(events => [...events, ...events.slice(1), ...events]),
  'events-reversed': streaming(events => events.toReversed()),
  'events-twice': streaming(events => events.flatMap(event => [event, event])),
  'events-20000': streaming(events => [
    events[0]!,
    ...Array.from({length: 20}, () => events[1]!.repeat(MANY / 20)),
    ...events.slice(2),
  ]),
  'comments-200000': between(...Array.from({length: 20}, () => ':\n'.repeat(MANY / 2))),
  'dialects-mixed': streaming(() => {
    const all = OTHER_PATHS.map(path => usualEvents({path}))
    return Array.from({length: 8}, (_, at) => all.flatMap(events => events[at] ?? [])).flat()
  }),
  'dialect-of-another': streaming((_, {path}) =>
    usualEvents({path: path.includes('/messages') ? '/v2/chat' : '/v1/messages'}),
  ),
  'error-in-mid-stream': streaming(events => [
    ...events.slice(0, 2),
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n',
  ]),
  'error-and-on': between('data: {"error":{"message":"x","code":"500"}}\n\n'),
  'error-of-odd-kinds-in-stream': between('event: error\ndata: {"error":[{"message":{"a":1}}],"message":7}\n\n'),
  'index-2-to-32': text(all => all.replaceAll('"index":0', '"index":4294967296')),
  'index-negative': text(all => all.replaceAll('"index":0', '"index":-1')),
  'index-of-prototype': text(all => all.replaceAll('"index":0', '"index":"__proto__"')),
  'tools-of-odd-indices': between(
    ...[-1, 4_294_967_295, 1e21].map(
      index =>
        `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":${index},"function":{"arguments":"{"}}]}}]}\n\n`,
    ),
  ),
  'surrogates-in-events': text(all => all.replaceAll('Wien', '\\ud800').replaceAll('aus ', '\\udc00\\ud800')),
  'text-as-object': text(all => all.replace(/"(content|text|delta)":"[^"]*"/g, '"$1":{"a":[1]}')),
  'stream-where-none-is-asked': asked => changed({...asked, is_stream: true}, json => json),
}
