import type {Socket} from 'node:net'
import {setImmediate as turn} from 'node:timers/promises'
import fc from 'fast-check'
import {type Dispatcher, Pool} from 'undici'
import {type Told, tell, Wire, wired} from '../../base/egress/http1/dispatched.ts'
import {bent, type Reply, reply as wellFormed} from '../../base/egress/http1/replies.ts'
import {put, withLine} from './lines.ts'

export interface Asking {
  readonly method: 'GET' | 'POST' | 'HEAD'
  readonly reply: Reply
  /** Places at which the reply is cut. */
  readonly cuts: readonly number[]
}

/**
 * What callers are told of the same reply by our client, and by undici; each over a connection of its own, in memory.
 * Undici gets it in one piece: of a reason phrase that is cut it keeps the last piece alone.
 */
export async function besideUndici(of: Asking): Promise<{readonly ours: Told; readonly theirs: Told}> {
  const mine = wired()
  const wire = new Wire()
  const theirs = new Pool('http://models.example', {
    connections: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_, done) => queueMicrotask(() => done(null, wire as unknown as Socket)),
  })
  const both = [called(mine.pool, of, () => mine.wire(0)), called(theirs, {...of, cuts: []}, async () => wire)] as const
  const response = await Promise.all(both)
  await Promise.all([mine.pool.destroy(), theirs.destroy()])
  return {ours: response[0], theirs: response[1]}
}

async function called(
  pool: Pick<Dispatcher, 'dispatch'>,
  {method, reply, cuts}: Asking,
  wireOf: () => Promise<Wire>,
): Promise<Told> {
  const call = tell(pool, {method, ...(method === 'POST' && {body: '{}'})})
  const wire = await wireOf()
  while (!wire.written.includes('\r\n\r\n')) await turn()
  let from = 0
  for (const to of [...cuts, reply.bytes.length]) {
    if (to > from && !wire.destroyed) wire.push(reply.bytes.subarray(from, to))
    from = to
    await turn()
  }
  if (reply.closes && !wire.destroyed) wire.push(null)
  return call
}

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const reply = fc.oneof(
  {weight: 1, arbitrary: wellFormed.map(({bytes}) => ({bytes, closes: true}))},
  {weight: 5, arbitrary: bent},
  {
    weight: 2,
    arbitrary: fc
      .tuple(wellFormed, put)
      .map(([{bytes}, line]) => ({bytes: latin1(withLine(bytes.toString('latin1'), line)), closes: true})),
  },
  {
    weight: 1,
    arbitrary: wellFormed.map(({bytes}) => ({
      bytes: Buffer.concat([latin1('HTTP/1.1 100 Go on\r\na: b\r\n\r\n'), bytes]),
      closes: true,
    })),
  },
)
const cuts = fc.oneof(
  {weight: 2, arbitrary: fc.constant<number[]>([])},
  {weight: 1, arbitrary: fc.array(fc.nat(), {maxLength: 6})},
)

export const asking: fc.Arbitrary<Asking> = fc
  .record({method: fc.constantFrom('GET', 'POST', 'POST', 'HEAD'), reply, cuts})
  .map(of => ({...of, cuts: [...new Set(of.cuts.map(cut => cut % (of.reply.bytes.length + 1)))].sort((a, b) => a - b)}))

/** A way in which the two differ on purpose, and why. */
export interface Difference {
  readonly why: string
  /** Undici's word of it, or ours, whichever refuses. */
  readonly refusal: RegExp
  /** What is in the reply. */
  readonly has: RegExp
  /**
   * The reply without that, of which undici has to tell what we tell of the whole; where it is we who refuse there is
   * none.
   */
  readonly without?: (text: string) => string
}

/** What we refuse and undici believes. */
export const STRICTER: readonly Difference[] = [
  {
    why: 'what an unknown transfer-encoding did to a body nobody can undo; it is no body to hand on (RFC 9112, 6.1)',
    refusal: /Unknown transfer encoding/,
    has: /^transfer-encoding:/im,
  },
  {
    why: 'a CR without LF may end a line for others and not for us (RFC 9112, 2.2)',
    refusal: /Expected LF after status line/,
    has: /^HTTP\/1\.[01] \d{3}[^\n]*\r[^\n]/m,
  },
  {
    why: 'an extension of a chunk has a name, and behind an equals sign a value, a token or a quoted text, not both (RFC 9112, 7.1.1)',
    refusal: /Invalid character in a chunked body/,
    has: /^[\da-f]+[^\r\n]*(;;|;=|=[;\r]|;\r|=[^;"\r\n]+")/im,
  },
]

/** What we believe and undici refuses. */
export const LOOSER: readonly Difference[] = [
  {
    why: 'servers send 100 Continue unasked; it says that the body may come, and that has left (RFC 9110, 15.2.1)',
    refusal: /bad response/,
    has: /HTTP\/1\.[01] 100/,
    without: text => text.replaceAll(/HTTP\/1\.[01] 100[^\r\n]*\r\n([^\r\n]+\r\n)*\r\n/g, ''),
  },
  {
    why: 'a trailer says nothing of where the reply ends, whatever its name (RFC 9110, 6.5.1)',
    refusal: /Content-Length can't be present with Transfer-Encoding/,
    has: /\r\n0\r\n([^\r\n]+\r\n)*content-length:/i,
    without: text => text.replace(/(\r\n0\r\n(?:[^\r\n]+\r\n)*)content-length:[^\r\n]*\r\n/i, '$1'),
  },
  {
    why: 'news that says the connection closes comes before a reply all the same, which is the last (RFC 9110, 15.2)',
    refusal: /Data after `Connection: close`/,
    has: /^HTTP\/1\.[01] 1\d\d[^\n]*\n([^\r\n]+\r\n)*connection: close\r\n/i,
    without: text => text.replace(/connection: close\r\n/i, ''),
  },
  {
    why: 'blanks behind a length are not a part of it (RFC 9112, 5.1)',
    refusal: /body length does not match content-length/,
    has: /^content-length:[ \t]*\d+[ \t]+\r$/im,
    without: text => text.replace(/^(content-length:[ \t]*\d+)[ \t]+\r$/im, '$1\r'),
  },
]

/** The entry that a difference is of, if it is of one. */
export function differenceOf(
  list: readonly Difference[],
  {reply: {bytes}}: Asking,
  refusing: Told,
): Difference | undefined {
  const text = bytes.toString('latin1')
  const word = refusing.end instanceof Error ? refusing.end.message : ''
  return list.find(({refusal, has}) => refusal.test(word) && has.test(text))
}
