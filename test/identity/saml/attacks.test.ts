import {expect, test} from 'vitest'
import {ATTACKING_IDP, ATTACKS, fieldOf} from './attacks.ts'
import {judged, reasonOf} from './sign-in.ts'

test.each(ATTACKS.map(attack => [attack.name, attack] as const))('%s: nobody is let in', async (_, attack) => {
  const judging = judged(ATTACKING_IDP, '', attack.settings, {saml_response: await fieldOf(attack)})
  expect(await reasonOf(judging)).toBe(attack.reason)
})

test('the table has every kind of attack', () => {
  expect(ATTACKS.length).toBeGreaterThan(100)
  expect(new Set(ATTACKS.map(({name}) => name)).size).toBe(ATTACKS.length)
})
