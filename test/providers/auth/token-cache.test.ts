import {expect, test} from 'vitest'
import {type CachedToken, TokenCache} from '../../../src/providers/auth/token-cache.ts'

/** A cache at a time of ours, and a fetch that is told when to answer. */
function setUp(options: {early_ms?: number; most?: number} = {}) {
  const clock = {now_ms: 0}
  const cache = new TokenCache<string>({now_ms: () => clock.now_ms, early_ms: 100, ...options})
  let fetched = 0
  const fetch = (life_ms: number) => async (): Promise<CachedToken<string>> => ({
    value: `token ${++fetched}`,
    expires_at_ms: clock.now_ms + life_ms,
  })
  return {clock, cache, fetch, fetched: () => fetched}
}

test('a token is fetched once, and again when it has less than the margin to live', async () => {
  const {clock, cache, fetch} = setUp()
  expect(await cache.get('a', fetch(1000))).toBe('token 1')
  clock.now_ms = 899
  expect(await cache.get('a', fetch(1000))).toBe('token 1')
  clock.now_ms = 900
  expect(await cache.get('a', fetch(1000))).toBe('token 2')
})

test('callers at one time share one fetch; another key has its own', async () => {
  const {cache, fetched} = setUp()
  const gate = Promise.withResolvers<CachedToken<string>>()
  let calls = 0
  const slow = () => {
    calls++
    return gate.promise
  }
  const waiting = [cache.get('a', slow), cache.get('a', slow), cache.get('a', slow)]
  const other = cache.get('b', async () => ({value: 'b', expires_at_ms: Infinity}))
  gate.resolve({value: 'a', expires_at_ms: Infinity})
  expect(await Promise.all([...waiting, other])).toEqual(['a', 'a', 'a', 'b'])
  expect([calls, fetched()]).toEqual([1, 0])
})

test('a failure is told to all who wait and is not remembered', async () => {
  const {cache, fetch} = setUp()
  const fails = async () => Promise.reject(new Error('refused'))
  const both = await Promise.allSettled([cache.get('a', fails), cache.get('a', fails)])
  expect(both.map(({status}) => status)).toEqual(['rejected', 'rejected'])
  expect(await cache.get('a', fetch(1000))).toBe('token 1')
})

test('while a token is still good, a failed renewal gives it', async () => {
  const {clock, cache, fetch} = setUp()
  await cache.get('a', fetch(1000))
  const fails = async () => Promise.reject(new Error('refused'))
  clock.now_ms = 950
  expect(await cache.get('a', fails)).toBe('token 1')
  clock.now_ms = 1000
  await expect(cache.get('a', fails)).rejects.toThrow('refused')
})

test('the one asked for longest ago goes first', async () => {
  const {cache, fetch} = setUp({most: 2})
  await cache.get('a', fetch(1000))
  await cache.get('b', fetch(1000))
  await cache.get('a', fetch(1000))
  await cache.get('c', fetch(1000))
  expect(await cache.get('a', fetch(1000))).toBe('token 1')
  expect(await cache.get('b', fetch(1000))).toBe('token 4')
})

test('what was forgotten is fetched anew', async () => {
  const {cache, fetch} = setUp()
  await cache.get('a', fetch(1000))
  cache.forget('a')
  expect(await cache.get('a', fetch(1000))).toBe('token 2')
})
