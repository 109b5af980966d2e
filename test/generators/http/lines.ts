import fc from 'fast-check'

/** A line that stands in a head besides, where one begins: bytes put in anywhere seldom make one. */
export interface Put {
  readonly at: number
  readonly line: string
}

export const put: fc.Arbitrary<Put> = fc.record({
  at: fc.nat({max: 30}),
  line: fc.constantFrom(
    'Content-Length: 3\r\n',
    'content-length: 0\r\n',
    'Content-Length: +3\r\n',
    'Content-Length: 3, 3\r\n',
    'Content-Length:\r\n',
    'Transfer-Encoding: chunked\r\n',
    'transfer-encoding: CHUNKED\r\n',
    'Transfer-Encoding: chunked, chunked\r\n',
    'Transfer-Encoding : chunked\r\n',
    'Transfer-Encoding: identity\r\n',
    'Connection: close\r\n',
    'Connection: keep-alive\r\n',
    'Host: other\r\n',
    'Expect: 100-continue\r\n',
    ' folded\r\n',
    'no colon\r\n',
    '\r\n',
    '\n',
  ),
})

export function withLine(text: string, {at, line}: Put): string {
  const begins = [...text.matchAll(/\r\n/g)].map(({index}) => index + 2)
  if (begins.length === 0) return text
  const place = begins[at % begins.length]!
  return text.slice(0, place) + line + text.slice(place)
}
