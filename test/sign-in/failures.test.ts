import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {
  beginTries,
  endTries,
  giveBack,
  keepFailures,
  MOST_OF_ACCOUNT,
  type SecretTry,
} from '../../src/sign-in/failures.ts'
import type {SignInServices} from '../../src/sign-in/services.ts'
import type {Store} from '../../src/store/database.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'

const QUARTER_MS = 900_000

describe.each(KINDS)('68: tries of a secret, of two processes on one %s', kind => {
  let test_store: TestStore
  let processes: readonly SignInServices[]
  const clock = {ms: 1_000_000}
  const warnings: string[] = []
  beforeAll(async () => {
    test_store = await testStore(kind)
    processes = [test_store.store, await test_store.again()].map(of)
  })
  afterAll(() => test_store?.close())
  beforeEach(() => {
    clock.ms += QUARTER_MS + 1
  })

  const of = (store: Store) =>
    ({
      store,
      now: () => new Date(clock.ms),
      log: {warn: (_: object, text: string) => void warnings.push(text)},
    }) as unknown as SignInServices
  const begin = (at: 0 | 1, key = 'ada', most = MOST_OF_ACCOUNT) => beginTries(processes[at]!, [{key, most}])
  const isIn = (tries: Promise<unknown>) =>
    tries.then(
      () => true,
      fault => {
        expect(fault).toMatchObject({reason: 'too_many'})
        return false
      },
    )
  const left = async (key = 'ada') => {
    let count = 0
    while (await isIn(begin(0, key))) count++
    return count
  }

  test('of many at once, half at each, five have no outcome yet, and the others are refused', async () => {
    const all = await Promise.all(Array.from({length: 20}, (_, at) => isIn(begin(at % 2 ? 1 : 0))))
    expect(all.filter(Boolean)).toHaveLength(5)
    expect([await left(), await left('ben')]).toEqual([0, 5])
  })

  test('those that had no outcome are given back, once, and wrong ones are not', async () => {
    const tries = [...(await begin(0)), ...(await begin(1)), ...(await begin(0))]
    await keepFailures(processes[1]!, [tries[0]!])
    await giveBack(processes[1]!, tries.slice(1))
    expect(await left()).toBe(4)
  })

  test('a process that ends with its tries gives none back: they count for a quarter of an hour', async () => {
    for (let time = 0; time < 5; time++) await begin(0)
    clock.ms += QUARTER_MS - 1
    expect(await isIn(begin(1))).toBe(false)
    clock.ms += 1
    expect(await left()).toBe(5)
  })

  test('a right one begins the count again; a wrong one that was begun before counts in the new one', async () => {
    const wrong = [...(await begin(0)), ...(await begin(1))]
    const right = await begin(1)
    clock.ms += 1
    await endTries(processes[1]!, {forget: right})
    await keepFailures(processes[0]!, wrong)
    expect(await left()).toBe(3)
  })

  test('one that is given back late takes nothing off a count that began since', async () => {
    const late = await begin(0)
    await endTries(processes[0]!, {forget: await begin(1)})
    clock.ms += 1
    await begin(1)
    await giveBack(processes[0]!, late)
    expect(await left()).toBe(4)
  })

  test('the time begins with a try that counts, not with one that was given back', async () => {
    await giveBack(processes[0]!, await begin(0))
    clock.ms += QUARTER_MS - 1
    await begin(0)
    clock.ms += 1
    expect(await left()).toBe(4)
  })

  test('of several keys all count or none', async () => {
    for (let time = 0; time < 5; time++) await begin(0, 'full')
    const wanted = ['free', 'full'].map(key => ({key, most: MOST_OF_ACCOUNT}))
    expect(await isIn(beginTries(processes[1]!, wanted))).toBe(false)
    expect(await left('free')).toBe(5)
  })

  test('a database that cannot be written keeps what was refused for another reason', async () => {
    const tries: readonly SecretTry[] = await begin(0)
    const dead = of({write: () => Promise.reject(new Error('down'))} as unknown as Store)
    await expect(giveBack(dead, tries)).resolves.toBeUndefined()
    expect([warnings.length, await left()]).toEqual([1, 4])
  })
})
