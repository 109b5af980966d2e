import {expect, test} from 'vitest'
import {KeySets} from '../../src/identity/jwt/key-sets.ts'

const URL = 'https://idp.example.com/keys'
const INTERVAL_MS = 30_000
/** Any 32 bytes are a key of this kind. */
const FIT = {kty: 'OKP', crv: 'Ed25519', x: Buffer.alloc(32, 7).toString('base64url')}

function opened(first: readonly string[] = ['a']) {
  let now_ms = 1_000_000
  const address = {
    kids: first,
    max_age_s: null as number | null,
    asked: 0,
    is_silent: false,
    text: undefined as string | undefined,
    /** Resolves each that waits; undefined: it answers at once. */
    held: undefined as (() => void)[] | undefined,
  }
  const warnings: string[] = []
  const facts: object[] = []
  const sets = new KeySets({
    async fetch() {
      address.asked++
      if (address.held) await new Promise<void>(resolve => address.held!.push(resolve))
      if (address.is_silent) throw new Error('no answer')
      const text = address.text ?? JSON.stringify({keys: address.kids.map(kid => ({...FIT, kid}))})
      return {text, max_age_s: address.max_age_s}
    },
    steady: () => now_ms,
    refetch_min_interval_ms: INTERVAL_MS,
    log: {
      warn: (fact: object, text: string) => {
        facts.push(fact)
        warnings.push(text)
      },
    } as never,
  })
  return {
    address,
    warnings,
    facts,
    sets,
    pass: (ms: number) => {
      now_ms += ms
    },
    found: async (kid: string) => (await sets.keysFor(URL, kid)).keys.length,
  }
}

test('the first calls wait for one read, however many come at once', async () => {
  const {address, found} = opened()
  address.held = []
  const calls = Array.from({length: 20}, () => found('a'))
  await Promise.resolve()
  address.held.forEach(resolve => void resolve())
  expect(await Promise.all(calls)).toEqual(Array(20).fill(1))
  expect(address.asked).toBe(1)
})

test('40 unknown ids cost one read an interval', async () => {
  const {address, found, pass} = opened()
  await found('a')
  for (let each = 0; each < 40; each++) expect(await found(`unknown ${each}`)).toBe(0)
  expect(address.asked).toBe(1)
  pass(INTERVAL_MS)
  await Promise.all(Array.from({length: 40}, (_, each) => found(`unknown ${each}`)))
  expect(address.asked).toBe(2)
})

test('a new key works one interval after it appears, and a removed one stops with the next read', async () => {
  const {address, sets, found, pass} = opened()
  await found('a')
  address.kids = ['a', 'b']
  expect(await found('b')).toBe(0)
  pass(INTERVAL_MS)
  expect(await found('b')).toBe(1)
  expect(sets.generationOf(URL)).toBe(0)
  address.kids = ['b']
  pass(600_000)
  expect([await found('a'), sets.generationOf(URL)]).toEqual([0, 1])
})

test.each([
  ['10 minutes without a header', null, 600_000],
  ['what its header says', 120, 120_000],
  ['a minute where that is less', 0, 60_000],
  ['an hour where that is more', 1_000_000, 3_600_000],
])('a set is fresh for %s, and read again beside calls before that is over', async (_, max_age_s, fresh_ms) => {
  const {address, found, pass} = opened()
  address.max_age_s = max_age_s
  await found('a')
  pass(fresh_ms * 0.8 - 1)
  await found('a')
  expect(address.asked).toBe(1)
  pass(1)
  address.held = []
  expect(await found('a')).toBe(1)
  expect(address.asked).toBe(2)
})

test('an address that falls silent: its keys are used for a day, and it is said', async () => {
  const {address, warnings, found, pass} = opened()
  await found('a')
  address.is_silent = true
  pass(86_400_000 - 1)
  expect(await found('a')).toBe(1)
  expect(warnings).toEqual(['a key set for tokens could not be read; the one before stays'])
  pass(INTERVAL_MS)
  await expect(found('a')).rejects.toMatchObject({code: 'token.keys_silent', status: 503})
})

test('one that never answered is asked again an interval later, and each call is told so at once', async () => {
  const {address, found, pass} = opened()
  address.is_silent = true
  for (let call = 0; call < 5; call++) await expect(found('a')).rejects.toMatchObject({code: 'token.keys_silent'})
  expect(address.asked).toBe(1)
  address.is_silent = false
  pass(INTERVAL_MS)
  expect(await found('a')).toBe(1)
})

test.each(['', '[]', '{}', '{"keys":{}}', '{"keys":', `{"a":${'['.repeat(400)}${']'.repeat(400)}}`])(
  '%j is no key set',
  async text => {
    const {address, found} = opened()
    address.text = text
    await expect(found('a')).rejects.toMatchObject({code: 'token.keys_silent'})
  },
)

test('of 1000 keys the first 100 count, and that is said once', async () => {
  const {found, pass, address, warnings, facts} = opened(Array.from({length: 1000}, (_, at) => `k${at}`))
  expect([await found('k99'), await found('k100')]).toEqual([1, 0])
  const once = ['not all keys of a key set for tokens are used']
  expect(warnings).toEqual(once)
  expect(facts).toEqual([{dropped: 900, unfit: 0, unfit_keys: [], url: 'https://idp.example.com'}])
  pass(600_000)
  expect(await found('k99')).toBe(1)
  expect([address.asked, warnings]).toEqual([2, once])
})

test('IC13: entries of a set that cannot be used are said once, and again when they are others', async () => {
  const {found, pass, address, warnings, facts} = opened()
  const short = {kty: 'RSA', kid: 'short', n: Buffer.alloc(128, 0xc5).toString('base64url'), e: 'AQAB'}
  const bad = [{kty: 'oct', kid: 'k2', k: 'c2VjcmV0'}, short, {kty: 'XX', kid: 'k'.repeat(500)}, 'text']
  const fit = {...FIT, kid: 'a'}
  address.text = JSON.stringify({keys: [{...FIT, kid: 'enc', use: 'enc'}, fit, ...bad]})
  expect(await found('a')).toBe(1)
  const unfit_keys = ['k2', 'short', 'k'.repeat(64), 'not named']
  expect(facts).toEqual([{dropped: 0, unfit: 4, unfit_keys, url: 'https://idp.example.com'}])
  pass(600_000)
  await found('a')
  expect([address.asked, warnings.length]).toEqual([2, 1])
  address.text = JSON.stringify({keys: [fit, short]})
  pass(600_000)
  await found('a')
  expect([facts.length, facts[1]]).toEqual([2, expect.objectContaining({unfit: 1, unfit_keys: ['short']})])
  address.text = JSON.stringify({keys: [fit]})
  pass(600_000)
  await found('a')
  expect(warnings).toHaveLength(2)
})
