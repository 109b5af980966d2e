import {randomBytes} from 'node:crypto'
import {setTimeout as sleep} from 'node:timers/promises'
import {expect, onTestFinished, test} from 'vitest'
import {forRing, generated, RING} from '../support/ring.ts'
import {onServer} from '../support/stores.ts'
import {ask, hold, until} from './life-of-call/cells.ts'
import {COMES_TO} from './life-of-call/events.ts'
import {openLine} from './life-of-call/stalled.ts'
import {STATES} from './life-of-call/states.ts'
import {worldApart, worldHere} from './life-of-call/worlds.ts'

const {TEST_REDIS_URL: redis_url, TEST_DATABASE_URL: database_url} = process.env
const LIMIT_MS = 400
/** A call asks Redis so often before it leaves, or less: each of its questions is held. */
const MAX_QUESTIONS = 4
const PLAIN = STATES.filter(({name}) => name === 'sent')
let cases = 0

async function overRedis(env: Record<string, string> = {}) {
  const line = await openLine(redis_url!, 6379)
  const world = await worldHere({REDIS_URL: line.url, ...env})
  onTestFinished(async () => {
    line.resume()
    await world.close()
    await line.close()
  })
  return {line, world}
}

test.runIf(redis_url && RING !== 'own')(
  'a client that leaves while its call waits for Redis leaves nothing there',
  async () => {
    const {line, world} = await overRedis()
    for (let question = 0; question < MAX_QUESTIONS; question++) {
      const is_held = line.stall(question)
      const [cell] = await hold(
        world,
        `redis ${question}`,
        PLAIN.map(state => ({...state, hears: null})),
        'front',
      )
      if (
        !(await Promise.race([is_held.then(() => true), sleep(300, false)])) ||
        world.double.count(`chat ${cell!.tag}`) > 0
      )
        break
      cases++
      cell!.client.leave()
      await sleep(50)
      line.resume()
      await until(async () => (await world.recorded(cell!.trace_id)).rows.length > 0)
      expect([await world.recorded(cell!.trace_id), world.double.count(`chat ${cell!.tag}`)]).toEqual([
        {rows: [499], entries: []},
        0,
      ])
      expect(await until(async () => (await ask(world, cell!.key)) === 200)).toBe(true)
    }
    expect(cases).toBeGreaterThan(1)
  },
)

test.runIf(redis_url && RING !== 'own')(
  'a gateway that stops while a call waits for Redis begins nothing',
  async () => {
    for (let question = 0; question < 2; question++) {
      const {line, world} = await overRedis({DRAIN_TIMEOUT_MS: String(LIMIT_MS)})
      const is_held = line.stall(question)
      const [cell] = await hold(
        world,
        `redis ${question}`,
        PLAIN.map(state => ({...state, hears: null})),
        'front',
      )
      await is_held
      cases++
      const stopped = world.stop()
      await sleep(LIMIT_MS / 4)
      line.resume()
      await stopped
      expect([cell!.client.end, await world.recorded(cell!.trace_id), world.double.count(`chat ${cell!.tag}`)]).toEqual(
        ['503', {rows: [503], entries: []}, 0],
      )
    }
  },
)

test.runIf(database_url && RING !== 'own')(
  'a process over a database that falls silent ends in time, and the next one knows of every call',
  async () => {
    for (let round = forRing({own: 0, ci: 1, full: 5}); round > 0; round--) {
      const name = `gateway_test_${randomBytes(6).toString('hex')}`
      await onServer(`create database ${name}`)
      const line = await openLine(Object.assign(new URL(database_url!), {pathname: `/${name}`}).href, 5432)
      const env = {
        DATABASE_URL: line.url,
        GATEWAY_SEALING_KEY: randomBytes(32).toString('base64'),
        DRAIN_TIMEOUT_MS: String(LIMIT_MS),
      }
      const world = await worldApart(env)
      try {
        const cells = await hold(
          world,
          'drain',
          STATES.filter(({name}) => ['sent', 'stream', 'last byte'].includes(name)),
          'front',
        )
        cases += cells.length
        void line.stall()
        const took_ms = await world.stop()
        expect([await world.ended, took_ms < LIMIT_MS + 1000 + forRing({own: 0, ci: 1000, full: 0})]).toEqual([0, true])
        line.resume()
        await world.again()
        for (const {state, trace_id} of cells) {
          const [, rows, entries] = COMES_TO.drain[state.name]!
          expect([state.name, await world.recorded(trace_id)]).toEqual([state.name, {rows, entries}])
        }
      } finally {
        await world.close()
        await line.close()
        await onServer(`drop database ${name} with (force)`)
      }
    }
  },
  120_000,
)

test('how many', () => generated('life-of-call over stores', cases))
