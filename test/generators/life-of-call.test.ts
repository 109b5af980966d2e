import {setTimeout as sleep} from 'node:timers/promises'
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest'
import {CALL_STATES, type StateName} from '../../src/proxy/call/state.ts'
import {forRing, generated} from '../support/ring.ts'
import {ask, type Cell, hold, type ServerKind, until} from './life-of-call/cells.ts'
import {Client} from './life-of-call/client.ts'
import {ACTS, COMES_TO, type Event, fillDisk} from './life-of-call/events.ts'
import {STATES, type State} from './life-of-call/states.ts'
import {ADMIN_KEY, type GatewaySetup, worldApart, worldHere} from './life-of-call/worlds.ts'

const LIMIT_MS = 600
const SHORT_MS = 600
/** How long a second request to a provider that must not come is waited for. */
const QUIET_MS = 150

const statesBy = (event: Event, way: ServerKind) =>
  STATES.filter(({name, hears}) => name in COMES_TO[event] && (way === 'front' || hears !== 'session'))

/** What the provider had been asked before the event: by the call, or by the one that it follows. */
const askedBefore = ({hears, attempts, follows}: State) =>
  hears === 'dial' || hears === 'session' ? 0 : follows ? 1 : attempts

/** Every call comes to what the table says, and leaves nothing behind: no request, no connection, no reservation. */
async function check(event: Event, cells: readonly Cell[], world: GatewaySetup, is_serving = true) {
  const table = COMES_TO[event]
  for (const {client} of cells) client.read()
  await until(() => cells.every(({state, client}) => client.end === table[state.name]![0]))
  for (const {leader} of cells) if (leader && is_serving) world.double.finish(leader.tag)
  if (is_serving) await until(async () => (await world.metric('gateway_live_calls')) === 0)
  await sleep(QUIET_MS)
  const came = Object.fromEntries(
    await Promise.all(
      cells.map(async ({state, tag, trace_id, client}) => {
        const {rows, entries} = await world.recorded(trace_id)
        const again = world.double.count(`chat ${tag}`) - askedBefore(state)
        return [state.name, [client.end, rows.toSorted().reverse(), entries, ...(again ? [again] : [])]]
      }),
    ),
  )
  expect(came).toEqual(Object.fromEntries(cells.map(({state: {name}}) => [name, table[name]])))
  const left = cells.filter(
    ({state, tag}) => (state.hears === 'chat' || state.hears === 'session') && world.double.open(tag) > 0,
  )
  expect(left.map(({state}) => state.name)).toEqual([])
  if (!is_serving) return
  expect(await world.metric('gateway_live_calls')).toBe(0)
  const after = await Promise.all(cells.map(async ({state, key}) => [state.name, await ask(world, key)]))
  expect(after).toEqual(cells.map(({state}) => [state.name, 200]))
}

let cases = 0
const counted = (cells: readonly Cell[]) => {
  cases += cells.length
  return cells
}

/** In `npm test` calls come in by one way. */
const WAYS = forRing<readonly ServerKind[]>({own: ['http'], ci: ['front', 'http'], full: ['front', 'http']})
const SHORT = {
  UPSTREAM_CONNECT_TIMEOUT_MS: String(SHORT_MS / 2),
  UPSTREAM_FIRST_BYTE_TIMEOUT_MS: String(SHORT_MS),
  UPSTREAM_IDLE_TIMEOUT_MS: String(SHORT_MS),
  CLIENT_WRITE_TIMEOUT_MS: String(SHORT_MS),
  CLIENT_HEAD_TIMEOUT_MS: String(SHORT_MS),
  CLIENT_BODY_IDLE_TIMEOUT_MS: String(SHORT_MS),
}

/**
 * No request from outside can hold a call there: it passes them within a turn, or waits for a store
 * (life-of-call-stores).
 */
const NOT_HELD: readonly StateName[] = [
  'authenticating',
  'admitting_caller',
  'planning',
  'taking_turns', // its calls have states of their own; test/proxy/server-side-mcp-rules.test.ts holds it
  'resolving',
  'looking_up',
  'searching', // test/proxy/semantic-cache.test.ts holds it
  'admitting_target',
  'reserving',
  'recording',
  'settling',
  'finishing',
  'settled',
]

test('each state of a call is held here, or named as one that cannot be', () => {
  const held = new Set(STATES.flatMap(({at}) => at ?? []))
  expect([...held, ...NOT_HELD].toSorted()).toEqual(Object.keys(CALL_STATES).toSorted())
})

describe.each(WAYS)('a call in whatever state it is (%s)', way => {
  let world: GatewaySetup
  let hurried: GatewaySetup
  let unrecorded: readonly Cell[]
  const held = async (event: Event, of = world, patience_ms?: number) =>
    counted(await hold(of, event, statesBy(event, way), way, patience_ms))

  beforeAll(async () => {
    const worlds = await Promise.all([worldHere({DRAIN_TIMEOUT_MS: String(LIMIT_MS)}), worldHere(SHORT)])
    world = worlds[0]
    hurried = worlds[1]
  })
  afterAll(() => Promise.all([world.close(), hurried.close()]))

  test('whose client leaves', async () => {
    const cells = await held('client gone')
    const holding = cells.filter(({state}) => state.attempts === 1 && !['session', 'retry wait'].includes(state.name))
    expect(await Promise.all(holding.map(({key}) => ask(world, key)))).toEqual(holding.map(() => 412))
    for (const cell of cells) ACTS['client gone']!(cell, world)
    await check('client gone', cells, world)
  })

  test('that loses its provider', async () => {
    const cells = await held('upstream reset')
    for (const cell of cells) ACTS['upstream reset']!(cell, world)
    await check('upstream reset', cells, world)
  })

  test('that waits too long', async () => {
    const cells = await held('timeout', hurried, SHORT_MS / 2)
    const slow = cells.find(({state}) => state.name === 'slow reader')!
    await until(async () => (await hurried.recorded(slow.trace_id)).entries.length > 0) // it reads on in the check
    await check('timeout', cells, hurried)
  })

  test('that cannot be recorded', async () => {
    unrecorded = await held('journal refuses')
    const undo = fillDisk(world.folder)
    try {
      for (const cell of unrecorded) ACTS['journal refuses']!(cell, world)
      await until(() =>
        unrecorded.every(({client, state}) => client.end === COMES_TO['journal refuses'][state.name]![0]),
      )
    } finally {
      undo()
    }
    expect(await until(async () => (await fetch(`${world.url}/readyz`)).ok)).toBe(true)
    for (const {leader} of unrecorded) leader?.client.leave()
    expect(await until(async () => (await world.metric('gateway_live_calls')) === 0, 3000)).toBe(true)
  })

  test('when the gateway stops', async () => {
    const cells = await held('drain')
    const stopped = world.stop()
    const of = (effect: 'ends' | 'goes on') => cells.filter(({state: {at}}) => at && CALL_STATES[at].drain === effect)
    expect(await until(() => of('ends').every(({client}) => client.end === '503'), LIMIT_MS / 2)).toBe(true) // at once
    expect(of('goes on').flatMap(({state, client}) => (client.end === 'open' ? [] : state.name))).toEqual([])
    for (const cell of cells) ACTS.drain!(cell, world)
    const took_ms = await stopped
    await check('drain', cells, world, false)
    expect(took_ms).toBeLessThan(LIMIT_MS + 3000) // a busy machine closes files slowly; a process has a second, below
  })

  test('is what the next start makes of it, where it could not be recorded', async () => {
    await world.again()
    await check('journal refuses', unrecorded, world)
  })
})

test.runIf(forRing({own: false, ci: true, full: true}))(
  'a call whose gateway is killed is what the next start makes of it',
  async () => {
    for (const way of forRing<readonly ServerKind[]>({own: [], ci: ['front'], full: WAYS})) {
      const world = await worldApart({})
      onTestFinished(() => world.close())
      const cells = counted(await hold(world, 'process killed', statesBy('process killed', way), way))
      world.kill('SIGKILL')
      await world.ended
      await world.again()
      await check('process killed', cells, world)
    }
  },
  60_000,
)

const BYSTANDERS: Readonly<Record<string, (client: Client, at: number) => void>> = {
  'a connection': () => undefined,
  'half a head': client => client.send('POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\n'),
  'a head that drips': client => {
    client.send('GET /livez HTTP/1.1\r\n')
    client.drip('x')
  },
  'half a body to the administration': client =>
    client.send(
      `POST /v1/integrations HTTP/1.1\r\nhost: gateway\r\nx-gateway-api-key: ${ADMIN_KEY}\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n{"na`,
    ),
  'an idle connection': client => client.send('GET /livez HTTP/1.1\r\nhost: gateway\r\n\r\n'),
}
const CROWD = 8
/** On a machine that is busy with other tests. */
const SLACK_MS = forRing({own: 0, ci: 1000, full: 0})

/** With calls in every state by both ways in, and connections that are of no call. */
test.runIf(forRing({own: false, ci: true, full: true}))(
  'a process ends in time, whatever is open',
  async () => {
    const took: number[] = []
    for (let round = forRing({own: 0, ci: 2, full: 20}); round > 0; round--) {
      const world = await worldApart({DRAIN_TIMEOUT_MS: String(LIMIT_MS)})
      try {
        const cells = await Promise.all([
          hold(world, 'drain by front', statesBy('drain', 'front'), 'front'),
          hold(
            world,
            'drain by http',
            statesBy('drain', 'http').filter(({hears}) => hears !== 'dial'),
            'http',
          ),
        ])
        const crowd = Object.values(BYSTANDERS).flatMap(act =>
          Array.from({length: CROWD}, (_, at) => {
            const client = new Client(world.url)
            act(client, at)
            return client
          }),
        )
        await sleep(50)
        const received = world.double.received.length
        const stopped = world.stop()
        await sleep(LIMIT_MS / 4)
        for (const cell of cells.flat()) ACTS.drain!(cell, world)
        took.push(await stopped)
        expect([
          await world.ended,
          world.double.received.length - received,
          crowd.filter(({closed}) => !closed).length,
        ]).toEqual([0, 0, 0])
        for (const each of cells) await check('drain', counted(each), world, false)
      } finally {
        await world.close()
      }
    }
    console.log(
      `a process ends ${Math.round(Math.max(...took) - LIMIT_MS)} ms after its limit at the latest, of ${took.length}`,
    )
    expect(took.filter(ms => ms > LIMIT_MS + 1000 + SLACK_MS)).toEqual([])
  },
  600_000,
)

test('how many', () => generated('life-of-call', cases))
