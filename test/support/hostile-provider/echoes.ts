import {gzipSync} from 'node:zlib'
import {type Asked, type CaseTable, chunked, head, raw, untilClosed, whole} from './reply.ts'
import {SSE, TEXT, usualBody, usualEvents, usualJson} from './usual.ts'

/** Providers that repeat what the gateway logged in with: in words, in headers, in links, and in pieces. */
const refusal = (words: string) =>
  JSON.stringify({error: {message: words, type: 'invalid_request_error', code: 'invalid_api_key'}})
const halves = (text: string): readonly string[] => [text.slice(0, text.length / 2), text.slice(text.length / 2)]
const inText = (asked: Asked) => usualJson(asked).replace(TEXT, `I know ${asked.key}`)

export const ECHOES: CaseTable = {
  'echo-key-in-401': ({key}) => whole(refusal(`The key ${key} is wrong`), {status: '401 Unauthorized'}),
  'echo-key-in-500': ({key}) => whole(refusal(`The key ${key} crashed us`), {status: '500 Internal Server Error'}),
  'echo-key-in-words': ({key}) => whole(`bad key: ${key}`, {status: '403 Forbidden', type: 'text/plain'}),
  'echo-key-in-page': ({key}) => whole(`<p>Bearer ${key}</p>`, {status: '200 OK', type: 'text/html'}),
  'echo-key-in-text': asked => whole(inText(asked)),
  'echo-key-in-gzip': asked => whole(gzipSync(inText(asked)), {lines: ['Content-Encoding: gzip']}),
  'echo-key-in-two-chunks': asked => {
    const at = inText(asked).indexOf(asked.key) + 12
    return chunked([inText(asked).slice(0, at), inText(asked).slice(at)])
  },
  'echo-key-as-member': asked =>
    whole(JSON.stringify({...usualBody(asked), [asked.key]: asked.key, model: asked.key, id: asked.key})),
  'echo-key-in-headers': asked =>
    whole(usualJson(asked), {
      lines: [
        `X-Request-Key: ${asked.key}`,
        `Authorization: Bearer ${asked.key}`,
        `Location: http://elsewhere.example/?key=${asked.key}`,
        `Link: <http://elsewhere.example/?key=${asked.key}>; rel=next`,
        `X-Echo: ${asked.head.split('\r\n').join(' | ').slice(0, 8000)}`,
      ],
    }),
  'echo-key-in-reason': asked => whole(usualJson(asked), {status: `401 ${asked.key}`}),
  'echo-key-in-header-name': asked => whole(usualJson(asked), {lines: [`X-${asked.key}: 1`]}),
  'echo-key-in-type': asked => whole(usualJson(asked), {type: `application/json; key=${asked.key}`}),
  'echo-key-in-redirect': ({key}) =>
    whole('', {status: '302 Found', lines: [`Location: http://127.0.0.1:1/?key=${key}`]}),
  'echo-key-in-informational': asked =>
    raw([`HTTP/1.1 103 Early Hints\r\nLink: </${asked.key}>\r\n\r\n`, ...whole(usualJson(asked)).pieces], 'keeps'),
  'echo-key-in-trailers': asked => {
    const [first, ...rest] = [...chunked([usualJson(asked)]).pieces]
    return raw([first!, ...rest.slice(0, -1), `0\r\nX-Key: ${asked.key}\r\n\r\n`], 'keeps')
  },
  'echo-key-in-bad-framing': ({key}) => raw([head({lines: ['Transfer-Encoding: chunked']}), `${key}\r\n`]),
  'echo-key-in-bad-head': ({key}) => raw([`${key} 200 OK\r\n\r\n`]),
  'echo-key-in-bad-json': ({key}) => whole(`{"key": ${key}}`),
  'echo-head': ({head}) => whole(JSON.stringify({error: {message: head}}), {status: '400 Bad Request'}),
  'echo-head-in-200': ({head}) => whole(JSON.stringify({head: head.split('\r\n'), usage: {note: head}})),
  'echo-key-in-stream-error': asked =>
    whole(`${usualEvents(asked)[0]}event: error\ndata: ${refusal(`bad key ${asked.key}`)}\n\n`, {type: SSE}),
  'echo-key-in-stream': asked =>
    chunked(
      usualEvents(asked).map(event => event.replace('Wien', asked.key)),
      {type: SSE},
    ),
  'echo-key-in-stream-comment': asked =>
    chunked([`: ${asked.key}\n\n`, `id: ${asked.key}\n`, ...usualEvents(asked)], {type: SSE}),
  'echo-key-in-stream-pieces': asked =>
    untilClosed(
      halves(usualEvents(asked).join('').replace('Wien', `${asked.key} `))
        .flatMap(halves)
        .flatMap(halves)
        .flatMap(halves),
      {
        type: SSE,
      },
    ),
}
