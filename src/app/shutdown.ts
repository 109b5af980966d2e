import type {FastifyInstance} from 'fastify'
import type {OpenAnswers} from './open-answers.ts'

export interface ShutDown {
  /** Listeners, whose connections end last. */
  readonly servers: readonly FastifyInstance[]
  /** Calls of models and of MCP. */
  readonly calls: {drain(limit_ms: number): Promise<unknown>}
  /** Of sign-ins and of the administration. */
  readonly answers: Pick<OpenAnswers, 'ended'>
  /** The time for calls in progress to end, and for their last answers after that. */
  readonly limit_ms: number
}

/** How long an answer may still leave whose call is over. */
const LAST_ANSWERS_MS = 1000
/** The same, counted from the end of `limit_ms`: what is left of a second is for closing files and databases. */
const LATEST_MS = 400

/**
 * Ends the calls of servers and then their connections, whatever is open on them: calls and other requests have
 * `limit_ms`, then answers that are leaving have a moment, then every socket is destroyed.
 */
export async function shutDown({servers, calls, answers, limit_ms}: ShutDown): Promise<void> {
  const until = performance.now() + limit_ms + LATEST_MS
  await calls.drain(limit_ms)
  await answers.ended(until - LATEST_MS - performance.now())
  const timer = setTimeout(
    () => {
      for (const {server} of servers) server.closeAllConnections()
    },
    Math.max(0, Math.min(LAST_ANSWERS_MS, until - performance.now())),
  )
  await Promise.all(servers.map(server => server.close()))
  clearTimeout(timer)
}
