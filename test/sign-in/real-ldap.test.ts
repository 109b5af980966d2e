import {afterAll, beforeAll, beforeEach, describe, expect, test, vi} from 'vitest'
import {NO_SLAPD} from '../identity/ldap/slapd.ts'
import {RING} from '../support/ring.ts'
import {NO_BROWSER} from './browser.ts'
import {addGroup, addPerson, type LdapHouse, openLdap, PEOPLE, RIGHT} from './ldap-house.ts'
import {mapGroup, openRealBrowser, type RealBrowser, type Steps, stepsAt, userOf} from './real-browser.ts'
import {typeIn} from './real-ways.ts'

// a browser starts slowly beside other tests
vi.setConfig({hookTimeout: 120_000, testTimeout: 120_000})

const CONNECTION = 'Acme directory'

describe.skipIf(NO_BROWSER || NO_SLAPD || RING === 'own')('a real directory, in a real browser', () => {
  let browser: RealBrowser
  let house: LdapHouse
  let steps: Steps
  beforeAll(async () => {
    browser = await openRealBrowser()
    house = await openLdap()
    for (const uid of ['mia', 'rita', 'otto']) addPerson(house.slapd, uid)
    addGroup(house.slapd, 'staff', 'mia')
    await house.gateway.auth({
      sso: {connections: [{name: CONNECTION, type: 'ldap', ldap: house.ldap}]},
      provisioning: {sync_groups: true},
    })
    await mapGroup(house.gateway, 'Kitchen', 'staff')
    steps = stepsAt(browser, house.gateway)
  })
  afterAll(async () => {
    await house?.close()
    await browser?.close()
  })
  beforeEach(() => browser.forget())

  async function signIn(username: string, password = RIGHT) {
    await steps.begin(CONNECTION)
    await typeIn(browser, username, password)
  }

  test('67: from the button to the account, after a wrong password that the page says alone', async () => {
    await signIn('mia', 'wrong-of-the-person')
    expect(await browser.alerted()).toBe('The user name or the password is wrong.')
    expect((await browser.call('GET', '/v1/auth/self')).status).toBe(401)
    expect(await userOf(house.gateway, 'mia@example.test')).toBeUndefined()
    // the name stays in its field, the password does not
    const typed = `['#username', '#password'].map(each => document.querySelector(each).value)`
    expect(await browser.page.read(typed)).toEqual(['mia', ''])
    await browser.page.type('#password', RIGHT)
    await browser.press('Sign in')
    await steps.expectAccount('mia@example.test', 'member', 'ldap', 'Kitchen', 'manager')
    expect(house.bindsOf(`uid=mia,${PEOPLE}`).map(({password}) => password)).toEqual(['wrong-of-the-person', RIGHT])
  })

  describe.skipIf(RING === 'own')('in the rings of CI', () => {
    test('IC9: who is removed has no page after that, and comes in no more by the directory', async () => {
      await signIn('otto')
      await steps.expectAccount('otto@example.test')
      const {id} = (await userOf(house.gateway, 'otto@example.test'))!
      await house.gateway.admin('DELETE', `/admin/users/${id}`)
      await browser.press('Sign out')
      await browser.until(`location.pathname === '/v2/auth/sign-in'`)
      await signIn('otto')
      expect(await browser.alerted()).not.toBe('')
      expect((await browser.call('GET', '/v1/auth/self')).status).toBe(401)
    })

    test('68: after five wrong passwords the page says to wait, and the directory hears no sixth', async () => {
      house.later()
      for (let attempt = 0; attempt < 6; attempt++) {
        await signIn('rita', `wrong-${attempt}`)
        expect(await browser.alerted()).toMatch(attempt < 5 ? /is wrong/ : /too many/i)
      }
      expect(house.bindsOf(`uid=rita,${PEOPLE}`)).toHaveLength(5)
    })
  })
})
