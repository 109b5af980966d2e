import {describe, expect, test} from 'vitest'
import {RING} from '../support/ring.ts'
import {FOREIGN, NO_BROWSER, REFUSED, useBrowser, WAYS} from './browser.ts'
import {choose, focused, focusOrder, press, tabTo, write} from './keyboard.ts'

describe.skipIf(NO_BROWSER || RING === 'own')('the sign-in page in Chromium', {timeout: 90_000}, () => {
  const visit = useBrowser()

  test('sign-in by a provider: a button of it, reached by keyboard, leads there', async () => {
    visit.gateway.answer('GET /v2/auth/ways', WAYS)
    visit.gateway.answer('POST /v2/auth/login', {location: `${visit.gateway.elsewhere}/there`})
    await visit.open('/v2/auth/sign-in?return_to=/v1/here&organisation_id=acme')
    expect(await focusOrder(visit.page)).toEqual([
      'Sign in with Acme Entra',
      'Sign in with Acme directory',
      'Sign in with a password',
    ])
    expect(visit.gateway.calls[0]?.url).toBe('/v2/auth/ways?organisation_id=acme')
    await choose(visit.page, 'Sign in with Acme Entra')
    await visit.arrive('/there')
    expect(visit.bodyOf('POST /v2/auth/login')).toEqual({connection: 'c-1', return_to: '/v1/here'})
    expect(visit.gateway.calls.at(-1)?.headers['content-type']).toBe('application/json')
  })

  test('sign-in by e-mail: the address comes first and goes with the choice; another one may be used', async () => {
    visit.gateway.answer('GET /v2/auth/ways', {...WAYS, connections: [], asks_email: true, password: false})
    visit.gateway.answer('POST /v2/auth/login', {location: '/there'})
    await visit.open('/v2/auth/sign-in')
    expect(await focusOrder(visit.page)).toEqual(['E-mail address', 'Continue'])
    await write(visit.page, 'E-mail address', ' ada+x@acme.example ')
    await press(visit.page, 'Enter')
    expect(await visit.alerted()).toMatch(/No sign-in is set up for this e-mail address/)
    // an address that no organisation has: nothing more is to be asked for
    visit.gateway.answer('GET /v2/auth/ways', {...WAYS, organisation: null, connections: [], asks_email: false})
    const again = () => choose(visit.page, 'Continue')
    expect(await visit.alertedAfter('GET /v2/auth/ways', again)).toMatch(/No sign-in is set up for this e-mail address/)
    visit.gateway.answer('GET /v2/auth/ways', {...WAYS, asks_email: true})
    await choose(visit.page, 'Continue')
    await visit.until(`document.querySelector('.ways') !== null`)
    expect(visit.gateway.calls.at(-1)?.url).toBe('/v2/auth/ways?email=ada%2Bx%40acme.example')
    expect(await focused(visit.page)).toBe('Sign in')
    expect(await visit.text('#alert')).toBe('')
    expect(await tabTo(visit.page, 'Use another e-mail address')).toHaveLength(3)
    await press(visit.page, 'Enter')
    await visit.until(`document.querySelector('form') !== null`)
    expect(visit.gateway.calls.at(-1)?.url).toBe('/v2/auth/ways')
    await write(visit.page, 'E-mail address', 'ada+x@acme.example')
    await press(visit.page, 'Enter')
    await visit.until(`document.querySelector('.ways') !== null`)
    await choose(visit.page, 'Sign in with Acme Entra')
    await visit.arrive('/there')
    const sent = {connection: 'c-1', return_to: '/v2/auth/account', email: 'ada+x@acme.example'}
    expect(visit.bodyOf('POST /v2/auth/login')).toEqual(sent)
  })

  test('sign-in goes to no address but https, this machine, and paths of its own', async () => {
    visit.gateway.answer('GET /v2/auth/ways', WAYS)
    await visit.open('/v2/auth/sign-in')
    for (const location of [...FOREIGN, '', null]) {
      visit.gateway.answer('POST /v2/auth/login', {location})
      const press = () => choose(visit.page, 'Sign in with Acme Entra')
      expect([location, await visit.alertedAfter('POST /v2/auth/login', press)]).toEqual([location, REFUSED])
      const place = await visit.page.read('[location.pathname, document.title]')
      expect(place).toEqual(['/v2/auth/sign-in', 'Sign in · Gateway'])
    }
  })

  test('which addresses a page opens and links to, and which a command line may have', async () => {
    await visit.open('/v2/auth/sign-in')
    const opened = [
      ...['https://idp.example/a?b=c#d', 'http://127.0.0.1:9/x', 'http://[::1]:9/', 'http://localhost:9/'],
      ...['/v2/auth/account?x=1', `${visit.gateway.url}/x`],
    ]
    const answers = (by: string, addresses: readonly unknown[]) =>
      visit.page.read<(string | null)[]>(`import('/v2/auth/assets/common.js').then(common =>
        ${JSON.stringify(addresses)}.map(each => common.${by}(each)))`)
    expect(await answers('safeAddress', opened)).toEqual(opened.map(each => new URL(each, visit.gateway.url).href))
    expect(await answers('safeAddress', FOREIGN)).toEqual(FOREIGN.map(() => null))
    expect(await answers('loopbackAddress', ['http://127.0.0.1:9/x', 'https://idp.example/'])).toEqual([
      'http://127.0.0.1:9/x',
      null,
    ])
    const links = (addresses: readonly unknown[]) =>
      visit.page.read<(string | null)[]>(`import('/v2/auth/assets/common.js').then(common =>
        ${JSON.stringify(addresses)}.map(href => common.el('a', {href}).getAttribute('href')))`)
    expect(await links(['/v2/auth/account'])).toEqual([`${visit.gateway.url}/v2/auth/account`])
    expect(await links(FOREIGN)).toEqual(FOREIGN.map(() => null))
  })

  test('a gateway that is slow, silent or gone: the page says so, and sends nothing twice', async () => {
    // the page's own deadline, made short, with the length that it wanted
    const source = `const real = AbortSignal.timeout.bind(AbortSignal)
      AbortSignal.timeout = ms => { window.deadline_ms = ms; return real(1200) }`
    const {identifier} = await visit.page.send<{identifier: string}>('Page.addScriptToEvaluateOnNewDocument', {source})
    visit.gateway.answer('GET /v2/auth/ways', WAYS)
    visit.gateway.hang('POST /v2/auth/login')
    await visit.open('/v2/auth/sign-in')
    await choose(visit.page, 'Sign in with Acme Entra')
    await press(visit.page, 'Enter')
    await visit.until(`document.querySelector('#status').textContent === 'Please wait …'`)
    expect(await visit.alerted()).toBe('The gateway did not answer in time. Try again.')
    expect(await visit.page.read('deadline_ms')).toBe(15_000)
    expect(await visit.text('#status')).toBe('')
    expect(visit.gateway.calls.filter(({route}) => route === 'POST /v2/auth/login')).toHaveLength(1)
    visit.gateway.drop('POST /v2/auth/login')
    const again = () => choose(visit.page, 'Sign in with Acme Entra')
    expect(await visit.alertedAfter('POST /v2/auth/login', again)).toBe('The gateway could not be reached. Try again.')
    await visit.page.send('Page.removeScriptToEvaluateOnNewDocument', {identifier})
  })

  test('nothing configured, and a gateway that refuses or answers no JSON, are said', async () => {
    visit.gateway.answer('GET /v2/auth/ways', {organisation: null, connections: [], asks_email: false, password: false})
    await visit.open('/v2/auth/sign-in')
    expect(await visit.text('#content')).toBe(
      'Single sign-on is not set up here. An administrator sets it up with the command gateway sso.',
    )
    visit.gateway.refuse('GET /v2/auth/ways', 429, 'There were too many attempts.')
    await visit.open('/v2/auth/sign-in')
    expect(await visit.alerted()).toBe('There were too many attempts.')
    visit.gateway.answer('GET /v2/auth/ways', 'no object', 502)
    await visit.open('/v2/auth/sign-in')
    expect(await visit.alerted()).toBe("The gateway's answer could not be read (status 502).")
    visit.gateway.serve('/v2/auth/ways', '<!doctype html>')
    await visit.open('/v2/auth/sign-in')
    expect(await visit.alerted()).toBe("The gateway's answer could not be read (status 200).")
  })

  test('a link chooses among sentences of the page, and brings none of its own', async () => {
    visit.gateway.answer('GET /v2/auth/ways', WAYS)
    await visit.open('/v2/auth/sign-in?error=denied')
    expect(await visit.alerted()).toBe('The identity provider did not let you in.')
    for (const word of ['Call+555-0100+now', '__proto__', 'constructor']) {
      await visit.open(`/v2/auth/sign-in?error=${word}`)
      expect(await visit.alerted()).toBe('Signing in did not work. Try again.')
    }
  })

  test.each(['/v2/auth/sign-in?return_to=/here', '/v2/auth/ldap?connection=c-2&return_to=/here'])(
    'a directory asks for user name and password; a wrong one is said and the password leaves the form: %s',
    async path => {
      visit.gateway.answer('GET /v2/auth/ways', WAYS)
      visit.gateway.refuse('POST /v2/auth/ldap', 401, 'The user name or the password is wrong.')
      await visit.open(path)
      if (path.includes('sign-in')) {
        await choose(visit.page, 'Sign in with Acme directory')
        await visit.heading('Sign in with Acme directory')
        expect(await focused(visit.page)).toBe('Sign in with Acme directory')
      }
      await write(visit.page, 'User name', 'ada')
      await write(visit.page, 'Password', 'wrong')
      await press(visit.page, 'Enter')
      expect(await visit.alerted()).toBe('The user name or the password is wrong.')
      expect(await visit.page.read('[username.value, password.value]')).toEqual(['ada', ''])
      visit.gateway.answer('POST /v2/auth/ldap', {location: '/there'})
      await write(visit.page, 'Password', ' right ')
      await choose(visit.page, 'Sign in')
      await visit.arrive('/there')
      const sent = {connection: 'c-2', username: 'ada', password: ' right ', return_to: '/here'}
      expect(visit.bodyOf('POST /v2/auth/ldap')).toEqual(sent)
      expect(visit.page.asked.join()).not.toContain('right')
    },
  )

  test('an owner signs in with a password; the link to it keeps the place to come back to', async () => {
    visit.gateway.answer('GET /v2/auth/ways', WAYS)
    visit.gateway.answer('POST /v2/auth/password', {location: '/there'})
    await visit.open('/v2/auth/sign-in?return_to=/here')
    await choose(visit.page, 'Sign in with a password')
    await visit.heading('Sign in with a password')
    expect(await focusOrder(visit.page)).toEqual(['E-mail address', 'Password', 'Sign in', 'Other ways to sign in'])
    await write(visit.page, 'E-mail address', 'owner@acme.example')
    await write(visit.page, 'Password', 'correct horse battery')
    await press(visit.page, 'Enter')
    await visit.arrive('/there')
    const sent = {email: 'owner@acme.example', password: 'correct horse battery', return_to: '/here'}
    expect(visit.bodyOf('POST /v2/auth/password')).toEqual(sent)
  })
})
