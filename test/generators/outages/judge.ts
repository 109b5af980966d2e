import {expect} from 'vitest'
import {changes, lists, READS} from './probes.ts'
import type {Outcome} from './promises.ts'
import {IN_TIME_MS, type OutageWorld, type Reply} from './world.ts'

const ALLOWED: Readonly<Record<Outcome, readonly [status: number, retry_after: string | null]>> = {
  served: [200, null],
  refused: [503, '2'],
  unknown: [401, null],
  unready: [503, null],
}

let judged = 0

/** How many were judged. */
export const casesJudged = () => judged

/** One case: the right answer, in time, and none that is told as a fault of our own. */
export function isRight(reply: Reply, outcome: Outcome, asked: string) {
  judged++
  const {status, retry_after, text, took_ms} = reply
  expect([asked, status, retry_after], text).toEqual([asked, ...ALLOWED[outcome]])
  expect(took_ms, `${asked}: ${text}`).toBeLessThan(IN_TIME_MS)
  expect(text).not.toContain('inside the gateway')
}

/** One case that is no request. */
export function holds<T>(condition: () => T): T {
  judged++
  return condition()
}

/** What came of `work`, which is over in time; undefined where nothing was wrong. */
export async function inTime(work: Promise<unknown>): Promise<unknown> {
  const started = performance.now()
  const fault = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  holds(() => expect(performance.now() - started).toBeLessThan(2 * IN_TIME_MS))
  return fault
}

/** Requests of the administration by what they are: all of it reads or writes the store. */
export function administration(world: OutageWorld): readonly (readonly [asked: string, ask: () => Promise<Reply>])[] {
  const {workspace_id} = world
  return [
    ...[...READS, ...lists(workspace_id)].map(path => [`GET ${path}`, () => world.get(path)] as const),
    ...changes(workspace_id).map(([path, body]) => [`POST ${path}`, () => world.post(path, body)] as const),
  ]
}

/** Pages that use no store. */
export const OWN = ['/livez', '/v1/health', '/metrics'] as const

/** The answer as it is by the third request at the latest: on a machine that does much else, one may be late. */
export async function firstOf(ask: () => Promise<Reply>): Promise<Reply> {
  for (let tries = 1; ; tries++) {
    const reply = await ask()
    if (reply.status !== 503 || tries === 3) return reply
  }
}
