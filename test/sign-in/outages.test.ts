import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {DEATHS, type Death, type DyingStore, dyingStore} from '../support/dying-store.ts'
import {forRing, generated} from '../support/ring.ts'
import type {PageReply} from '../support/sign-in.ts'
import {KINDS} from '../support/stores.ts'
import {openSteps, type SignInStep} from './outages/steps.ts'
import {everyRow} from './people-house.ts'

const TABLES =
  /\b(?:sign_ins|seen_assertions|sign_in_failures|login_codes|sessions|users|organisation_users|identities|invites|user_passwords|connections|domains|organisations|audit_logs)\b/
const ACCEPTS = ['application/json', 'text/html'] as const
/** Tries of a secret are noted before it is judged, and those of a store that fails stay. */
const NOTED = /^sign_in_failures /
/** How many of the statements of a step are tried: each of them, or one of so many. */
const EVERY = forRing({own: 12, ci: 3, full: 1})
const TRIED = DEATHS.slice(0, forRing({own: 1, ci: 2, full: 3}))
let cases = 0
afterAll(() => generated('sign-in outages', cases))

describe.each(KINDS)('a store that fails in the midst of a step, on %s', kind => {
  let open: Awaited<ReturnType<typeof openSteps>>
  let store: DyingStore
  beforeAll(async () => {
    open = await openSteps(kind)
    store = dyingStore(TABLES)
    // a first sign-in makes its user: those that are tried come again
    for (const step of open.steps) await good(step)
  })
  afterAll(async () => {
    store?.restore()
    await open?.close()
  })

  const rows = async () => (await everyRow(open.house.gateway)).filter(row => !NOTED.test(row))
  /** Rows of one and not of the other, short: a row is long. */
  const difference = (before: readonly string[], after: readonly string[]) => {
    const [had, has] = [new Set(before), new Set(after)]
    const [gone, come] = [before.filter(row => !has.has(row)), after.filter(row => !had.has(row))]
    return [...gone.map(row => `- ${row.slice(0, 200)}`), ...come.map(row => `+ ${row.slice(0, 200)}`)]
  }
  const good = async (step: SignInStep) => {
    await open.clear()
    const {send} = await step.ready()
    const reply = await send(ACCEPTS[0])
    const is_on_its_way = [step.status, step.status === 303 ? 200 : step.status].includes(reply.status)
    expect([step.name, is_on_its_way, reply.text.slice(0, 300)]).toEqual([step.name, true, reply.text.slice(0, 300)])
  }

  const expectOutage = (reply: PageReply, accept: string) => {
    expect([reply.status, reply.headers.get('retry-after')], reply.text).toEqual([503, '2'])
    expect(reply.headers.getSetCookie().filter(each => /session=gs-/.test(each))).toEqual([])
    expect(reply.text).not.toMatch(/gs-[\w-]{43}|\beyJ|gk-/)
    if (accept === 'text/html') {
      expect(reply.headers.get('content-type')).toContain('text/html')
      expect(reply.text).toContain('<!doctype html>')
    } else expect(reply.body).toMatchObject({success: false, data: {errorCode: 'AB04'}})
  }

  async function fails(step: SignInStep, death: Death) {
    await open.clear()
    store.dies(death, Number.POSITIVE_INFINITY)
    const first = await step.ready()
    store.dies(death, Number.POSITIVE_INFINITY)
    await first.send(ACCEPTS[0])
    const statements = store.lives()
    for (let at = 1; at <= statements; at += EVERY) {
      await open.clear()
      const {send} = await step.ready()
      const before = await rows()
      const accept = ACCEPTS[(at / EVERY) & 1]!
      store.dies(death, at)
      const reply = await send(accept)
      store.lives()
      expectOutage(reply, accept)
      expect([step.name, at, difference(before, await rows())]).toEqual([step.name, at, []])
      await good(step)
      cases++
    }
  }

  test.each(TRIED)(
    '$name: 503 with the time to come again, and nothing half-written',
    async death => {
      for (const step of open.steps) await fails(step, death)
    },
    600_000,
  )
})
