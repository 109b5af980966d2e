import {describe, expect, test} from 'vitest'
import {RING} from '../support/ring.ts'
import {SELF} from './account-answers.ts'
import {ASKER, FOREIGN, NO_BROWSER, REFUSED, useBrowser, WAYS} from './browser.ts'
import {choose, focused, focusOrder, press, write} from './keyboard.ts'

describe.skipIf(NO_BROWSER || RING === 'own')('the pages for a command line in Chromium', {timeout: 90_000}, () => {
  const visit = useBrowser()

  test.each([
    ['Allow', 'approve', 'Allowed'],
    ['Refuse', 'deny', 'Refused'],
  ])('a device: its code is typed, who asks is shown, and %s sends %s', async (button, decision, title) => {
    visit.gateway.answer('GET /v1/auth/self', SELF)
    visit.gateway.answer('POST /v2/auth/device/lookup', ASKER)
    visit.gateway.answer('POST /v2/auth/device', {})
    await visit.open('/v2/auth/device?user_code=ZZZZ-ZZZZ')
    expect(await visit.page.read('user_code.value')).toBe('')
    await write(visit.page, 'Code', 'abcd')
    await press(visit.page, 'Enter')
    expect(await visit.alerted()).toMatch(/eight letters/)
    expect(await visit.page.read(`user_code.getAttribute('aria-invalid')`)).toBe('true')
    await visit.page.read(`user_code.value = ''`)
    await write(visit.page, 'Code', 'bcdf ghjk')
    await press(visit.page, 'Enter')
    await visit.heading('Allow this command line?')
    expect(visit.bodyOf('POST /v2/auth/device/lookup')).toEqual({user_code: 'BCDF-GHJK'})
    // Enter pressed once more than needed must not allow anything
    expect(await focused(visit.page)).toBe('Allow this command line?')
    expect(await visit.text('dl')).toMatch(/gateway-cli[\s\S]*ada-laptop[\s\S]*192\.0\.2\.7/)
    expect(await visit.text('.warning')).toMatch(/only if you started it yourself/)
    expect(await visit.page.read(`document.querySelector('time').dateTime`)).toBe(ASKER.created_at)
    expect(await focusOrder(visit.page)).toEqual(['Allow', 'Refuse'])
    await choose(visit.page, button)
    await visit.heading(title)
    expect(visit.bodyOf('POST /v2/auth/device')).toEqual({user_code: 'BCDF-GHJK', decision})
    expect(visit.gateway.calls.at(-1)?.headers['x-gateway-csrf']).toBe('PROOF')
    expect(await visit.text('#content')).toMatch(/You may close this page\.$/)
  })

  test.each([
    ['/v2/auth/device', 'GET /v1/auth/self', '/v2/auth/device'],
    ['/v2/auth/account', 'GET /v1/auth/self', '/v2/auth/account'],
    ['/v2/auth/cli?request=r-1', 'GET /v2/auth/cli/request', '/v2/auth/cli?request=r-1'],
  ])('%s of a person who is not signed in leads to sign-in, and from there back', async (path, route, place) => {
    visit.gateway.answer('GET /v2/auth/ways', WAYS)
    visit.gateway.refuse(route, 401, 'Sign in.')
    await visit.page.open(visit.gateway.url + path)
    await visit.arrive('/v2/auth/sign-in')
    await visit.ready()
    expect(await visit.page.read(`new URLSearchParams(location.search).get('return_to')`)).toBe(place)
  })

  test('a session that ends while a device asks leads to sign-in', async () => {
    visit.gateway.answer('GET /v1/auth/self', SELF)
    visit.gateway.answer('GET /v2/auth/ways', WAYS)
    visit.gateway.refuse('POST /v2/auth/device/lookup', 401, 'Sign in.')
    await visit.open('/v2/auth/device')
    await write(visit.page, 'Code', 'BCDF-GHJK')
    await press(visit.page, 'Enter')
    await visit.arrive('/v2/auth/sign-in')
    await visit.ready()
  })

  test.each([
    ['Allow', 'approve'],
    ['Refuse', 'deny'],
  ])('a command line waits on this machine: %s sends %s and goes to its port', async (button, decision) => {
    visit.gateway.answer('GET /v2/auth/cli/request', {host: 'ada-laptop', expires_at: ASKER.expires_at})
    visit.gateway.answer('POST /v2/auth/cli', {location: `${visit.gateway.elsewhere}/there?code=c&state=s`})
    await visit.open('/v2/auth/cli?request=r%261')
    expect(visit.gateway.calls[0]?.url).toBe('/v2/auth/cli/request?request=r%261')
    expect(await visit.text('#content p')).toBe('The command line on this machine (ada-laptop) asks to act as you.')
    expect(await focusOrder(visit.page)).toEqual(['Allow', 'Refuse'])
    await choose(visit.page, button)
    await visit.arrive('/there')
    expect(visit.bodyOf('POST /v2/auth/cli')).toEqual({request: 'r&1', decision})
    expect(await visit.page.read('location.search')).toBe('?code=c&state=s')
  })

  test('a command line is answered on this machine only', async () => {
    visit.gateway.answer('GET /v2/auth/cli/request', {host: 'ada-laptop', expires_at: ASKER.expires_at})
    await visit.open('/v2/auth/cli?request=r-1')
    for (const location of [...FOREIGN, '', null, 'https://idp.example/', 'https://127.0.0.1:9/']) {
      visit.gateway.answer('POST /v2/auth/cli', {location})
      const press = () => choose(visit.page, 'Allow')
      expect([location, await visit.alertedAfter('POST /v2/auth/cli', press)]).toEqual([location, REFUSED])
      expect(await visit.page.read('location.pathname')).toBe('/v2/auth/cli')
    }
  })
})
