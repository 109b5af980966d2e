import {describe, expect, test} from 'vitest'
import {after} from '../../src/base/delay.ts'
import {Refusal} from '../../src/base/errors.ts'
import {CallRegistry} from '../../src/proxy/call/registry.ts'
import {CALL_STATES, CallState, type StateName, type StateOwner} from '../../src/proxy/call/state.ts'

const NAMES = Object.keys(CALL_STATES) as StateName[]

/** A call in a state, and what its owner heard there. */
function callIn(name: StateName) {
  const registry = new CallRegistry({steady: () => performance.now(), after}, () => undefined)
  const state = new CallState(registry)
  const received: string[] = []
  const owner: StateOwner = {
    end: fault => void received.push(`end ${fault.code}`),
    clientGone: () => void received.push('client gone'),
    clientReady: () => void received.push('client ready'),
    check: now => void received.push(`check ${now}`),
  }
  if (name === 'settled') state.settle()
  else state.enter(name, owner)
  return {registry, state, received, owner}
}

describe.each(NAMES)('a call that is %s', name => {
  const {client_gone, drain} = CALL_STATES[name]

  test('hears that its client left as the table says', () => {
    const {state, received} = callIn(name)
    state.clientGone()
    expect(received).toEqual({ends: ['end client.gone'], 'owner decides': ['client gone'], 'goes on': []}[client_gone])
  })

  test('hears that the gateway stops as the table says, and of the end of the drain always', () => {
    const {state, received} = callIn(name)
    state.stop()
    expect(received).toEqual({ends: ['end draining'], 'goes on': []}[drain])
    received.length = 0
    state.abort()
    expect(received).toEqual(name === 'settled' ? [] : ['end draining'])
  })

  test('ends once, leaves the registry, and enters nothing afterwards', () => {
    const {registry, state, received, owner} = callIn(name)
    expect([state.settle(), state.settle()]).toEqual([name !== 'settled', false])
    expect([registry.size, state.enter('queued', owner), state.name]).toEqual([0, false, 'settled'])
    state.clientGone()
    state.abort()
    state.check(1)
    expect(received).toEqual([])
  })
})

test('an owner that is done hears nothing more', () => {
  const {state, received, owner} = callIn('receiving')
  state.release(owner)
  state.clientReady()
  state.abort()
  expect([received, state.isOwnedBy(owner)]).toEqual([[], false])
})

test('what still comes for a call that the drain refused is given back', async () => {
  const registry = new CallRegistry({steady: () => performance.now(), after}, () => undefined)
  const state = new CallState(registry)
  const {promise, resolve} = Promise.withResolvers<string>()
  const back: string[] = []
  const waited = state
    .wait('admitting_caller', promise, late => back.push(late))
    .catch((fault: Refusal) => {
      state.settle()
      throw fault
    })
  const drained = registry.drain(1000)
  await expect(waited).rejects.toMatchObject({code: 'draining'})
  await drained
  resolve('a reservation')
  await promise
  expect([back, registry.size]).toEqual([['a reservation'], 0])
})

test('what is waited for once the gateway stops is refused', async () => {
  const registry = new CallRegistry({steady: () => performance.now(), after}, () => undefined)
  const state = new CallState(registry)
  registry.draining = true
  await expect(state.wait('reading_body', Promise.resolve('a body'))).rejects.toMatchObject({code: 'draining'})
})

test('a wait that brings what it was for, or fails, leaves the call between two waits', async () => {
  const {state} = callIn('planning')
  expect([await state.wait('authenticating', Promise.resolve(1)), state.name]).toEqual([1, 'planning'])
  await expect(state.wait('authenticating', Promise.reject(new Refusal('key.unknown')))).rejects.toMatchObject({
    code: 'key.unknown',
  })
})
