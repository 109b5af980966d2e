import {describe, expect, test} from 'vitest'
import {RING} from '../support/ring.ts'
import {spoken} from './accessible.ts'
import {answerAccount, KEYS, SESSIONS} from './account-answers.ts'
import {FOREIGN, NO_BROWSER, useBrowser, WAYS} from './browser.ts'
import {choose, focused, focusOrder, press, tabTo, write} from './keyboard.ts'

describe.skipIf(NO_BROWSER || RING === 'own')('the account and invite pages in Chromium', {timeout: 90_000}, () => {
  const visit = useBrowser()

  test('the account shows who I am, where I am signed in, and what my keys have spent', async () => {
    answerAccount(visit.gateway)
    await visit.open('/v2/auth/account')
    expect(await focusOrder(visit.page)).toEqual([
      'The organisations that you belong to',
      'Switch to Globex',
      'The workspaces that you belong to',
      'The places where you are signed in',
      'End the session of gateway-cli at 192.0.2.7',
      'Your own keys',
      'Sign out',
    ])
    expect(await visit.text('dl')).toMatch(/Ada Lovelace[\s\S]*ada@acme\.example[\s\S]*Acme[\s\S]*admin/)
    const cells = await visit.page.read<string[]>(
      `[...document.querySelectorAll('[aria-label="Your own keys"] td')].map(each => each.innerText)`,
    )
    expect(cells.filter(each => /\d\.\d{4}|not known|^12$|never|gk-/.test(each))).toEqual(
      ['gk-…1234', 'never', '$0.0123', '12'].concat(['gk-…5678', 'not known', 'not known']),
    )
    expect(await visit.page.read(`document.querySelectorAll('time').length`)).toBe(
      1 + SESSIONS.length * 3 + KEYS.length + 1,
    )
    expect(await spoken(visit.page)).toEqual(
      expect.arrayContaining(['columnheader: Spent this month', 'rowheader: Notebook', 'table: Your own keys']),
    )
    expect(await visit.page.read(`document.querySelectorAll('th:not([scope]), table:not(:has(caption))').length`)).toBe(
      0,
    )
  })

  test('a session is ended with the proof of the page; the focus stays in its section', async () => {
    answerAccount(visit.gateway)
    visit.gateway.answer('DELETE /v1/auth/sessions/se%2F2', {})
    await visit.open('/v2/auth/account')
    await choose(visit.page, 'End the session of gateway-cli at 192.0.2.7')
    await visit.until(`document.querySelector('#status').textContent === 'The session was ended.'`)
    expect(visit.gateway.calls.at(-1)).toMatchObject({
      route: 'DELETE /v1/auth/sessions/se%2F2',
      headers: {'x-gateway-csrf': 'PROOF', 'content-type': 'application/json'},
    })
    expect(await focused(visit.page)).toBe('My sessions')
    expect(await visit.text('[aria-label="The places where you are signed in"]')).not.toContain('gateway-cli')
  })

  test('another organisation opens, or says where its own sign-in is', async () => {
    answerAccount(visit.gateway)
    visit.gateway.refuse('POST /v1/auth/switch', 403, 'Sign in its own way.', {
      login_url: `${visit.gateway.elsewhere}/there`,
    })
    await visit.open('/v2/auth/account')
    await choose(visit.page, 'Switch to Globex')
    expect(await visit.alerted()).toBe('Sign in its own way. Sign in to Globex')
    await choose(visit.page, 'Sign in to Globex')
    await visit.arrive('/there')
    await visit.open('/v2/auth/account')
    for (const login_url of FOREIGN) {
      visit.gateway.refuse('POST /v1/auth/switch', 403, 'Sign in its own way.', {login_url})
      const press = () => choose(visit.page, 'Switch to Globex')
      expect(await visit.alertedAfter('POST /v1/auth/switch', press)).toBe('Sign in its own way.')
      expect(await visit.page.read(`document.querySelectorAll('#alert a').length`)).toBe(0)
    }
    visit.gateway.answer('POST /v1/auth/switch', {location: '/there'})
    await choose(visit.page, 'Switch to Globex')
    await visit.arrive('/there')
    expect(visit.bodyOf('POST /v1/auth/switch')).toEqual({organisation_id: 'org-2'})
  })

  test('a page that the browser kept, and brings back, is loaded again: its person may have signed out', async () => {
    answerAccount(visit.gateway)
    await visit.open('/v2/auth/account')
    visit.gateway.answer('GET /v2/auth/ways', WAYS)
    visit.gateway.refuse('GET /v1/auth/self', 401, 'Sign in.')
    await visit.page.read(`void dispatchEvent(new PageTransitionEvent('pageshow', {persisted: false}))`)
    expect(await visit.text('h1')).toBe('Your account')
    await visit.page.read(`void dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))`)
    await visit.arrive('/v2/auth/sign-in')
    await visit.ready()
  })

  test('a list that cannot be read leaves the others; more rows than are shown are counted', async () => {
    answerAccount(visit.gateway)
    visit.gateway.refuse('GET /v1/auth/sessions', 503, 'The store is busy.')
    visit.gateway.answer('GET /v1/auth/keys', {object: 'list', total: 70, data: KEYS})
    await visit.open('/v2/auth/account')
    expect(await visit.text('section [role="alert"]')).toBe('The store is busy.')
    expect(await visit.text('section:has(#keys)')).toMatch(/Shown are 2 of 70\.$/)
  })

  test('signing out leads to the page that says so, or to the provider; never to a foreign address', async () => {
    for (const logout_url of [null, FOREIGN[0], FOREIGN[6], FOREIGN[10], FOREIGN[16]]) {
      answerAccount(visit.gateway)
      visit.gateway.serve('/v2/auth/signed-out', '<h1>Signed out</h1>')
      visit.gateway.answer('POST /v1/auth/logout', {logout_url})
      await visit.open('/v2/auth/account')
      await choose(visit.page, 'Sign out')
      await visit.arrive('/v2/auth/signed-out')
      expect(await visit.text('h1')).toBe('Signed out')
    }
    visit.gateway.answer('POST /v1/auth/logout', {logout_url: `${visit.gateway.elsewhere}/there`})
    await visit.open('/v2/auth/account')
    await choose(visit.page, 'Sign out')
    await visit.arrive('/there')
    expect(visit.gateway.calls.at(-1)?.headers['x-gateway-csrf']).toBe('PROOF')
  })

  test('an invite is accepted with a provider; its token leaves the address before anything is called', async () => {
    visit.gateway.answer('GET /v2/auth/ways', WAYS)
    visit.gateway.answer('POST /v2/auth/login', {location: `${visit.gateway.elsewhere}/there`})
    await visit.open('/v2/auth/invite#token=gi-SECRET')
    expect(await visit.page.read('location.href')).toBe(`${visit.gateway.url}/v2/auth/invite`)
    expect(await focusOrder(visit.page)).toEqual([
      'Accept and sign in with Acme Entra',
      'Accept and sign in with Acme directory',
      'First name (optional)',
      'Last name (optional)',
      'Accept without single sign-on',
    ])
    const kept =
      'JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, document.documentElement.outerHTML])'
    expect(await visit.page.read(kept)).not.toContain('SECRET')
    await choose(visit.page, 'Accept and sign in with Acme Entra')
    await visit.arrive('/there')
    const sent = {connection: 'c-1', invite_token: 'gi-SECRET', return_to: '/v2/auth/account'}
    expect(visit.bodyOf('POST /v2/auth/login')).toEqual(sent)
    expect(visit.gateway.calls.map(({url}) => url).join()).not.toContain('SECRET')
  })

  test('an invite asks for the e-mail address where that decides, and keeps its token meanwhile', async () => {
    visit.gateway.answer('GET /v2/auth/ways', {...WAYS, organisation: null, connections: [], asks_email: true})
    visit.gateway.answer('POST /v2/auth/login', {location: '/there'})
    await visit.open('/v2/auth/invite#token=gi-SECRET')
    const address = async () => {
      visit.gateway.answer('GET /v2/auth/ways', {...WAYS, asks_email: false})
      await write(visit.page, 'E-mail address', 'ada@acme.example')
      await press(visit.page, 'Enter')
      await visit.until(`document.querySelector('.ways') !== null`)
    }
    await address()
    visit.gateway.answer('GET /v2/auth/ways', {...WAYS, connections: [], asks_email: true})
    await choose(visit.page, 'Use another e-mail address')
    await visit.until(`document.querySelector('#email') !== null`)
    await address()
    await choose(visit.page, 'Accept and sign in with Acme Entra')
    await visit.arrive('/there')
    expect(visit.bodyOf('POST /v2/auth/login')).toMatchObject({connection: 'c-1', invite_token: 'gi-SECRET'})
  })

  test('without single sign-on the promised keys are shown once, and can be copied', async () => {
    visit.gateway.answer('GET /v2/auth/ways', {...WAYS, connections: []})
    const api_keys = [
      {workspace_id: 'ws-1', id: 'key-1', key: 'gk-FIRST'},
      {workspace_id: 'ws-2', id: 'key-2', key: 'gk-SECOND'},
    ]
    const accepted = {user_id: 'user-1', organisation_id: 'org-1', session: {id: 'se-1', expires_at: null}, api_keys}
    visit.gateway.answer('POST /v1/invites/accept', accepted)
    answerAccount(visit.gateway)
    await visit.page.send('Browser.grantPermissions', {permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite']})
    await visit.open('/v2/auth/invite#token=gi-SECRET')
    await write(visit.page, 'First name (optional)', ' Ada ')
    await press(visit.page, 'Enter')
    await visit.heading('You are a member')
    expect(visit.bodyOf('POST /v1/invites/accept')).toEqual({token: 'gi-SECRET', first_name: 'Ada'})
    expect(await focused(visit.page)).toBe('You are a member')
    const order = ['Key for workspace ws-1', 'Copy the key for workspace ws-1']
    expect(await focusOrder(visit.page)).toEqual([
      ...order,
      ...order.map(each => each.replace('ws-1', 'ws-2')),
      'Go to my account',
    ])
    await tabTo(visit.page, 'Key for workspace ws-2')
    expect(await visit.page.read('getSelection().toString()')).toBe('gk-SECOND')
    await choose(visit.page, 'Copy the key for workspace ws-2')
    await visit.until(`document.querySelector('#status').textContent === 'The key was copied.'`)
    expect(await visit.page.read('navigator.clipboard.readText()')).toBe('gk-SECOND')
    await choose(visit.page, 'Go to my account')
    await visit.arrive('/v2/auth/account')
    await visit.ready()
    // back again: the keys are gone, and so is the token
    await visit.page.read('history.back()')
    await visit.arrive('/v2/auth/invite')
    await visit.until(`document.querySelector('#alert')?.textContent.includes('holds no invitation')`)
    expect(await visit.page.read('document.documentElement.outerHTML')).not.toMatch(/gk-|gi-/)
  })

  test('a browser that lets nothing be copied selects the key in its place', async () => {
    visit.gateway.answer('GET /v2/auth/ways', WAYS)
    visit.gateway.answer('POST /v1/invites/accept', {api_keys: [{workspace_id: 'ws-1', id: 'key-1', key: 'gk-FIRST'}]})
    await visit.open('/v2/auth/invite#token=gi-SECRET')
    await choose(visit.page, 'Accept without single sign-on')
    await visit.heading('You are a member')
    await visit.page.read(`Object.defineProperty(navigator, 'clipboard', {value: undefined})`)
    await choose(visit.page, 'Copy the key for workspace ws-1')
    await visit.until(`document.querySelector('#status').textContent.includes('is selected')`)
    expect(await visit.page.read('getSelection().toString()')).toBe('gk-FIRST')
  })

  test.each(['', '#token=', '#token=gs-SESSION', '#other=gi-SECRET'])(
    'a link with %j holds no invite',
    async fragment => {
      await visit.open(`/v2/auth/invite${fragment}`)
      expect(await visit.alerted()).toMatch(/^This link holds no invitation\./)
      expect(visit.gateway.calls).toEqual([])
    },
  )

  test('an invite of an organisation that wants its own sign-in says so, and leads there', async () => {
    visit.gateway.answer('GET /v2/auth/ways', WAYS)
    visit.gateway.refuse('POST /v1/invites/accept', 403, 'Not so.', {login_url: `${visit.gateway.elsewhere}/there`})
    await visit.open('/v2/auth/invite#token=gi-SECRET')
    await choose(visit.page, 'Accept without single sign-on')
    expect(await visit.alerted()).toBe('Not so. The organisation wants its own sign-in. Sign in there')
    await choose(visit.page, 'Sign in there')
    await visit.arrive('/there')
  })
})
