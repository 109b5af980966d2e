import {createHash, randomBytes} from 'node:crypto'
import type {Environment} from '../environment.ts'
import type {Printer} from '../print.ts'
import type {CommandSession} from '../session.ts'
import {openAnswerPort} from './answer-port.ts'
import {
  answered,
  askGateway,
  endedWithout,
  interrupted,
  type ShownSession,
  type SignInPlace,
  sessionIn,
  shortText,
} from './sign-in-gateway.ts'

const WAITING_MS = 5 * 60_000

/** Signs in by the browser of this machine, which brings a code to a port of it (RFC 8252, RFC 7636). */
export async function signInByBrowser(
  {world, print, sources}: Pick<CommandSession, 'world' | 'print' | 'sources'>,
  place: SignInPlace,
  host: string,
): Promise<ShownSession> {
  const state = randomBytes(24).toString('base64url')
  const verifier = randomBytes(32).toString('base64url')
  const port = await openAnswerPort(state)
  try {
    const page = pageOf(place.url, {port: port.port, state, verifier, host})
    sayPage(world, print, page)
    if (world.stderr.isTTY) world.openPage?.(page, sources.env)
    const brought = await soonest(world, place.signal, port.answer)
    if (place.signal.aborted) throw interrupted()
    if (brought === undefined) throw endedWithout('expired_token')
    if ('error' in brought) throw endedWithout(brought.error)
    return await exchanged(place, brought.code, verifier)
  } finally {
    await port.close()
  }
}

interface PageParts {
  readonly port: number
  readonly state: string
  readonly verifier: string
  readonly host: string
}

function pageOf(url: string, {port, state, verifier, host}: PageParts): string {
  const query = new URLSearchParams({
    cli_port: String(port),
    cli_state: state,
    cli_challenge: createHash('sha256').update(verifier).digest('base64url'),
    cli_host: host,
  })
  return `${url}/v2/auth/login?${query}`
}

/** Nothing but this can be done with the page, so it is said whatever is kept quiet. */
function sayPage({stderr}: Environment, {json}: Printer, page: string) {
  if (json) stderr.write(`${JSON.stringify({login_url: page})}\n`)
  else stderr.write(`To sign in, open in a browser of this machine:\n\n  ${page}\n\n`)
}

/** The answer, or undefined where the time ended first. */
async function soonest<T>(world: Environment, signal: AbortSignal, answer: Promise<T>): Promise<T | undefined> {
  const over = new AbortController()
  try {
    return await Promise.race([
      answer,
      world.sleep(WAITING_MS, AbortSignal.any([signal, over.signal])).then(() => undefined),
    ])
  } finally {
    over.abort()
  }
}

async function exchanged(place: SignInPlace, code: string, code_verifier: string): Promise<ShownSession> {
  const request = {method: 'POST', path: '/v1/auth/cli/token', body: {code, code_verifier}}
  const reply = await askGateway(place, request)
  const error = reply.status === 400 ? shortText(reply.body, 'error') : undefined
  if (error !== undefined) throw endedWithout(error)
  return sessionIn(place.url, answered(place, reply, 'Begin again: gateway login --browser'))
}
