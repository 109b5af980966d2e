import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {type Coalescer, createFlights, type FlightOptions, type Participation} from '../../src/cache/coalesce.ts'

/** A clock that runs when it is told, and the timers set on it. */
function fakeTime() {
  let now_ms = 0
  let timers: {readonly at_ms: number; readonly run: () => void}[] = []
  return {
    after(ms: number, run: () => void) {
      const timer = {at_ms: now_ms + ms, run}
      timers.push(timer)
      return () => {
        timers = timers.filter(each => each !== timer)
      }
    },
    pass(ms: number) {
      const until_ms = now_ms + ms
      for (;;) {
        const next = timers.filter(({at_ms}) => at_ms <= until_ms).toSorted((one, other) => one.at_ms - other.at_ms)[0]
        if (!next) break
        timers = timers.filter(each => each !== next)
        now_ms = next.at_ms
        next.run()
      }
      now_ms = until_ms
    },
    get set() {
      return timers.length
    },
  }
}

interface Caller {
  readonly seat: Participation<string>
  /** What it was told, in order. */
  readonly received: string[]
}

function scene(options: Partial<FlightOptions> = {}) {
  const time = fakeTime()
  const faults: unknown[] = []
  const flights: Coalescer<string> = createFlights({
    after: time.after,
    most_lead_ms: 1_000,
    most_wait_ms: 5_000,
    onFault: fault => faults.push(fault),
    ...options,
  })
  const join = (key = 'k'): Caller => {
    const received: string[] = []
    const seat = flights.join(key, {
      onLead: () => received.push('lead'),
      onAnswer: answer => received.push(answer),
      onProceed: () => received.push('alone'),
      onAbandoned: () => received.push('deserted'),
    })
    return {seat, received}
  }
  const crowd = (size: number) => Array.from({length: size}, () => join())
  return {time, flights, faults, join, crowd}
}

/** Calls to the provider that these made or were told to make. */
const calls = (callers: readonly Caller[]) =>
  callers.filter(
    ({seat, received}) => seat.role !== 'follower' || received.includes('lead') || received.includes('alone'),
  ).length
const heardBy = (callers: readonly Caller[]) => callers.map(({received}) => received.join())

describe('a flight', () => {
  test('of 100 callers makes one call, and all have its answer', () => {
    const {crowd, flights, time} = scene()
    const callers = crowd(100)
    const [first, ...others] = callers
    expect(first!.seat).toMatchObject({role: 'leader', followed: true})
    expect(new Set(others.map(({seat}) => seat.role))).toEqual(new Set(['follower']))
    first!.seat.complete('answer')
    expect(calls(callers)).toBe(1)
    expect(heardBy(others)).toEqual(Array(99).fill('answer'))
    expect(first!.received).toEqual([])
    expect({flights: flights.size, timers: time.set}).toEqual({flights: 0, timers: 0})
  })

  test('is one of its key alone, and over once it is complete', () => {
    const {join} = scene()
    const one = join('a')
    expect(join('b').seat.role).toBe('leader')
    one.seat.complete('answer')
    expect(join('a').seat.role).toBe('leader')
  })

  test('goes on when the first caller leaves: one call, carried on for the others', () => {
    const {crowd, flights} = scene()
    const callers = crowd(100)
    expect(callers[0]!.seat.leave()).toBe(true)
    expect(callers[0]!.seat).toMatchObject({followed: true})
    callers[0]!.seat.complete('answer')
    expect(calls(callers)).toBe(1)
    expect(heardBy(callers.slice(1))).toEqual(Array(99).fill('answer'))
    expect(flights.size).toBe(0)
  })

  test('has one follower promoted each time that its leader fails, also one that left; the others go on waiting', () => {
    const {crowd, join, flights, time} = scene()
    const callers = crowd(5)
    callers[0]!.seat.leave()
    callers[0]!.seat.fail()
    expect(heardBy(callers)).toEqual(['', 'lead', '', '', ''])
    const late = join()
    expect(late.seat.role).toBe('follower')
    callers[1]!.seat.fail()
    callers[2]!.seat.complete('answer')
    expect(heardBy([...callers, late])).toEqual(['', 'lead', 'lead', 'answer', 'answer', 'answer'])
    expect({flights: flights.size, timers: time.set}).toEqual({flights: 0, timers: 0})
  })

  test('is over when the last of its callers fails', () => {
    const {crowd, flights, time} = scene()
    const callers = crowd(3)
    for (const {seat} of callers) seat.fail()
    expect(heardBy(callers)).toEqual(['', 'lead', 'lead'])
    expect({flights: flights.size, timers: time.set}).toEqual({flights: 0, timers: 0})
  })

  test('has a follower promoted when an answer is good and may not be shared; the others ask too', () => {
    const {crowd, join} = scene()
    const callers = crowd(4)
    callers[0]!.seat.decline()
    expect(heardBy(callers)).toEqual(['', 'lead', 'alone', 'alone'])
    const late = join()
    expect(late.seat.role).toBe('follower')
    callers[1]!.seat.complete('answer')
    expect(late.received).toEqual(['answer'])
  })

  test('is handed over by a leader that will make no call: one leads, the others go on waiting', () => {
    const {crowd, flights} = scene()
    const callers = crowd(100)
    callers[0]!.seat.passLead()
    expect(heardBy(callers)).toEqual(['', 'lead', ...Array(98).fill('')])
    callers[1]!.seat.passLead()
    callers[2]!.seat.complete('answer')
    expect(heardBy(callers.slice(3))).toEqual(Array(97).fill('answer'))
    expect(flights.size).toBe(0)
    const [alone] = crowd(1)
    alone!.seat.passLead()
    expect(flights.size).toBe(0)
  })

  test('is aborted when the last participant leaves', () => {
    const {crowd, flights, time} = scene()
    const [leader, ...others] = crowd(3)
    expect(leader!.seat.leave()).toBe(true)
    for (const other of others) expect(other.seat.leave()).toBe(false)
    expect(leader!.received).toEqual(['deserted'])
    expect(heardBy(others)).toEqual(['', ''])
    expect({flights: flights.size, timers: time.set}).toEqual({flights: 0, timers: 0})
  })

  test('of one that leaves alone is over at once', () => {
    const {join, flights} = scene()
    expect(join().seat.leave()).toBe(false)
    expect(flights.size).toBe(0)
  })

  test('tells nothing to those that left', () => {
    const {crowd} = scene()
    const [leader, gone, stays] = crowd(3)
    gone!.seat.leave()
    leader!.seat.complete('answer')
    expect(heardBy([gone!, stays!])).toEqual(['', 'answer'])
  })

  test('whose answer may not be shared sends all to the provider, one of them as the new leader', () => {
    const {crowd, join, flights} = scene()
    const callers = crowd(100)
    callers[0]!.seat.decline()
    expect(heardBy(callers)).toEqual(['', 'lead', ...Array(98).fill('alone')])
    const late = join()
    callers[2]!.seat.complete('not shared')
    callers[0]!.seat.complete('too late')
    expect(late.received).toEqual([])
    callers[1]!.seat.fail()
    expect(late.received).toEqual(['lead'])
    late.seat.fail()
    expect(flights.size).toBe(0)
  })

  test('whose leader stalls gets one more call, whose answer all have', () => {
    const {crowd, time} = scene()
    const callers = crowd(100)
    time.pass(999)
    expect(calls(callers)).toBe(1)
    time.pass(1)
    expect(calls(callers)).toBe(2)
    expect(callers[1]!.received).toEqual(['lead'])
    callers[1]!.seat.complete('answer')
    expect(heardBy(callers.slice(2))).toEqual(Array(98).fill('answer'))
    expect(callers[0]!.received).toEqual([])
  })

  test('takes the answer of a slow leader too, when it is first', () => {
    const {crowd, time, flights} = scene()
    const callers = crowd(3)
    time.pass(1_000)
    callers[0]!.seat.complete('slow')
    expect(heardBy(callers)).toEqual(['', 'lead', 'slow'])
    callers[1]!.seat.complete('later')
    expect(callers[2]!.received).toEqual(['slow'])
    expect(flights.size).toBe(0)
  })

  test('that a slow leader fails waits for the other', () => {
    const {crowd, time} = scene()
    const callers = crowd(3)
    time.pass(1_000)
    callers[0]!.seat.fail()
    expect(callers[2]!.received).toEqual([])
    callers[1]!.seat.complete('answer')
    expect(callers[2]!.received).toEqual(['answer'])
  })

  test('lets nobody wait for longer than the bound', () => {
    const {crowd, time, join} = scene({most_lead_ms: 60_000})
    const callers = crowd(3)
    time.pass(4_000)
    const late = join()
    time.pass(1_000)
    expect(heardBy([...callers, late])).toEqual(['', 'alone', 'alone', ''])
    callers[0]!.seat.complete('answer')
    expect(late.received).toEqual(['answer'])
  })

  test('carried on for followers whose time is over is aborted', () => {
    const {crowd, time, flights} = scene({most_lead_ms: 60_000})
    const callers = crowd(2)
    callers[0]!.seat.leave()
    time.pass(5_000)
    expect(heardBy(callers)).toEqual(['deserted', 'alone'])
    expect(flights.size).toBe(0)
  })

  test('carried on and slow is aborted when the only one that waited leads', () => {
    const {crowd, time, flights} = scene()
    const callers = crowd(2)
    callers[0]!.seat.leave()
    time.pass(1_000)
    expect(heardBy(callers)).toEqual(['deserted', 'lead'])
    callers[1]!.seat.complete('answer')
    expect(flights.size).toBe(0)
  })

  test('whose leader is slow already is led by who comes next', () => {
    const {join, time} = scene()
    const slow = join()
    time.pass(1_000)
    const next = join()
    const last = join()
    expect([slow, next, last].map(({seat}) => seat.role)).toEqual(['leader', 'leader', 'follower'])
    next.seat.complete('answer')
    expect(last.received).toEqual(['answer'])
  })

  test('that is full sends who comes to the provider', () => {
    const {crowd} = scene({max_followers: 2})
    const callers = crowd(4)
    expect(callers.map(({seat}) => seat.role)).toEqual(['leader', 'follower', 'follower', 'alone'])
    expect(callers[3]!.seat.leave()).toBe(false)
    callers[3]!.seat.complete('not shared')
    expect(callers[1]!.received).toEqual([])
  })

  test('is not held up by a participant that throws', () => {
    const {flights, faults, join} = scene()
    const throwing = {
      onLead: () => fail('lead'),
      onAnswer: () => fail('answer'),
      onProceed: () => fail('alone'),
      onAbandoned: () => fail('deserted'),
    }
    const leader = join()
    flights.join('k', throwing)
    const other = join()
    leader.seat.complete('answer')
    expect(other.received).toEqual(['answer'])
    const next = join()
    flights.join('k', throwing)
    const last = join()
    next.seat.fail()
    expect(last.received).toEqual(['lead'])
    last.seat.complete('answer')
    expect(faults.map(String)).toEqual(['Error: answer', 'Error: lead'])
    expect(flights.size).toBe(0)
  })

  test('may be joined anew by who has just been told', () => {
    const {flights, join} = scene()
    const leader = join()
    let again: Participation<string> | undefined
    const rejoin = () => {
      again = flights.join('k', {
        onLead: () => undefined,
        onAnswer: () => undefined,
        onProceed: () => undefined,
        onAbandoned: () => undefined,
      })
    }
    flights.join('k', {onLead: rejoin, onAnswer: rejoin, onProceed: rejoin, onAbandoned: rejoin})
    leader.seat.complete('answer')
    expect(again?.role).toBe('leader')
  })
})

test('whatever callers do, each hears at most one answer, nobody is forgotten, and nothing is left behind', () => {
  const act = fc.record({
    kind: fc.constantFrom('join', 'join', 'complete', 'fail', 'passLead', 'leave', 'pass'),
    who: fc.nat(),
    ms: fc.nat({max: 2_000}),
  })
  fc.assert(
    fc.property(fc.array(act, {maxLength: 60}), acts => {
      const {join, time, flights} = scene({max_followers: 5})
      const callers: (Caller & {done: boolean})[] = []
      const asks = ({seat, received}: Caller) =>
        seat.role !== 'follower' || received.includes('lead') || received.includes('alone')
      for (const {kind, who, ms} of acts) {
        const caller = callers[who % Math.max(1, callers.length)]
        if (kind === 'join') callers.push({...join(), done: false})
        else if (kind === 'pass') time.pass(ms)
        else if (!caller || caller.done) continue
        else if (kind === 'leave') caller.done = !caller.seat.leave()
        else if (asks(caller)) {
          caller.seat[kind]('answer')
          caller.done = true
        }
      }
      // Every call comes to an end, the later begun the sooner.
      for (let rounds = 0; rounds < 100 && callers.some(({done}) => !done); rounds++) {
        const open = callers.filter(({done}) => !done)
        const asking = open.findLast(asks)
        if (asking) asking.seat.complete('answer')
        for (const each of open)
          each.done ||= each === asking || each.received.includes('answer') || each.received.includes('deserted')
      }
      expect(callers.filter(({done}) => !done)).toEqual([])
      for (const {received} of callers) {
        const told = received.filter(word => word !== 'deserted')
        expect(told.length).toBeLessThanOrEqual(1)
        expect(received.length).toBeLessThanOrEqual(2)
      }
      expect({flights: flights.size, timers: time.set}).toEqual({flights: 0, timers: 0})
    }),
    {numRuns: 2_000},
  )
})

function fail(word: string): never {
  throw new Error(word)
}
