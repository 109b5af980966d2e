import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {openAnswerPort} from '../../cli/contexts/answer-port.ts'
import {ADMIN_KEY, WORKSPACE_KEY} from '../support/gateway.ts'
import {type Browser, type OidcHouse, openOidc, says} from '../support/sign-in.ts'
import {home} from './terminal.ts'

let house: OidcHouse
let browser: Browser
let url: string
let clock_ms = Date.now()

beforeAll(async () => {
  house = await openOidc('sqlite', {}, {now: () => clock_ms})
  mia()
  browser = (await house.signIn()).browser
  url = browser.base
  const {user} = await browser.self()
  await house.gateway.admin('PUT', `/admin/users/${user.id}`, {role: 'admin'})
})
afterAll(() => house.close())

/** The provider says her name at the time of the gateway, whose clock is ahead of ours. */
const mia = () => {
  const iat = Math.floor(clock_ms / 1000)
  says(house.provider, {sub: 'mia', email: 'mia@example.test', iat, exp: iat + 300})
}
const decide = (user_code: string | undefined, decision: string) =>
  browser.go('/v2/auth/device', {method: 'POST', body: {user_code, decision}, headers: {accept: 'application/json'}})
const codeIn = (outcome: string) => /\b[A-Z]{4}-[A-Z]{4}\b/.exec(outcome)?.[0]
const sessionsOf = async () => {
  const {body} = await browser.go('/v1/auth/sessions', {headers: {accept: 'application/json'}})
  return (body.data as {kind: string}[]).filter(each => each.kind === 'cli').length
}
/** Waits as the clock says, and decides before the wait of this number is over. */
const waits = (decidedAt: Readonly<Record<number, string>>, passing_ms?: readonly number[]) => {
  const waited: number[] = []
  const onWait = async (ms: number, outcome: string) => {
    const step = waited.push(ms)
    clock_ms += passing_ms?.[step - 1] ?? ms
    const decision = decidedAt[step]
    if (decision) expect(await decide(codeIn(outcome), decision)).toMatchObject({status: 200})
  }
  return {waited, onWait, now_ms: () => clock_ms}
}

describe('gateway login, by device', () => {
  test('70: pending, then good: it says whose session it is, and commands use it', async () => {
    const at = home()
    const {waited, ...around} = waits({3: 'approve'})
    const outcome = await at.run(['login', url, '--name', 'prod'], around)
    expect(outcome).toMatchObject({code: 0, stderr: expect.stringContaining(`open ${url}/v2/auth/device and type`)})
    expect(outcome.stdout).toMatch(
      /^Logged in to prod \(http:\S+\) as mia@example\.test, organisation .+ \(admin\), until [\d: -]{16} UTC\.\n$/,
    )
    expect(waited).toEqual([5000, 5000, 5000])
    expect(at.modes()).toEqual(['contexts.yaml 600', 'keys/prod 600'])
    const token = at.text('keys', 'prod').trim()
    expect(token).toMatch(/^gs-[\w-]{43}$/)
    // A7
    expect(outcome.stdout + outcome.stderr + at.text('contexts.yaml')).not.toContain(token)
    const row = (await house.gateway.rows('login_code'))[0]
    expect(row).toMatchObject({body: {decision: 'approve', client: 'gateway-cli'}})
    const listed = await at.run(['workspaces', 'list', '--json'])
    expect(listed).toEqual({code: 0, stdout: expect.stringContaining('"list"'), stderr: ''})
  })

  test('70: slow_down makes each further wait five seconds longer', async () => {
    const at = home()
    const {waited, ...around} = waits({4: 'approve'}, [5000, 1000])
    expect(await at.run(['login', url], around)).toMatchObject({code: 0})
    expect(waited).toEqual([5000, 5000, 10_000, 10_000])
  })

  test.each([
    ['denied', {1: 'deny'}, undefined, 4, 'The sign-in was refused in the browser; nothing was kept.'],
    ['expired', {}, [5000, 600_000], 1, 'Nobody confirmed the sign-in in time; nothing was kept.'],
  ] as const)('70: %s: nothing is kept', async (_, decisions, passing_ms, code, sentence) => {
    const at = home()
    const before = await sessionsOf()
    const outcome = await at.run(['login', url], waits(decisions, passing_ms))
    expect(outcome).toMatchObject({code, stdout: '', stderr: expect.stringContaining(sentence)})
    expect(at.files()).toEqual([])
    expect(await sessionsOf()).toBe(before)
  })

  test('70: the gateway itself ends a code whose time is over, and gives its session once', async () => {
    const ask = async (path: string, body: object) => {
      const headers = {'content-type': 'application/json'}
      const reply = await fetch(url + path, {method: 'POST', headers, body: JSON.stringify(body)})
      return {status: reply.status, body: (await reply.json()) as Record<string, string>}
    }
    const begun = () => ask('/v1/auth/device', {client: 'gateway-cli', host: 'here'})
    const poll = (device_code: string) => ask('/v1/auth/device/token', {device_code})
    const late = (await begun()).body
    clock_ms += 600_001
    expect(await poll(late.device_code!)).toEqual({status: 400, body: {error: 'expired_token'}})
    const good = (await begun()).body
    await decide(good.user_code, 'approve')
    expect(await poll(good.device_code!)).toMatchObject({status: 200, body: {token: expect.stringMatching(/^gs-/)}})
    expect(await poll(good.device_code!)).toEqual({status: 400, body: {error: 'invalid_grant'}})
  })

  test('Ctrl-C ends it at once, and nothing is kept', async () => {
    const at = home()
    let raise: (name: string) => void = () => undefined
    const outcome = await at.run(['login', url], {
      onListening(given) {
        raise = given
      },
      onWait: () => raise('SIGINT'),
    })
    expect(outcome).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Signing in was stopped; nothing was kept.'),
    })
    expect(at.files()).toEqual([])
  })

  test('a terminal shows the code in a box, a program gets it as JSON', async () => {
    const at = home()
    const shown = await at.run(['login', url], {...waits({1: 'approve'}), is_terminal: true})
    expect(shown.stderr).toMatch(/╭─+╮\n│ {2}Open {3}http.*│\n│ {2}Code {3}[A-Z]{4}-[A-Z]{4} +│\n╰─+╯\n/)
    const {stdout, stderr} = await at.run(['login', url, '--json'], waits({1: 'approve'}))
    expect(JSON.parse(stderr)).toEqual({
      verification_uri: `${url}/v2/auth/device`,
      user_code: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
      expires_in: 600,
    })
    expect(JSON.parse(stdout)).toMatchObject({url, kind: 'session', user: 'mia@example.test', role: 'admin'})
    expect(stdout).not.toContain(at.text('keys', new URL(url).host.replace(':', '-')).trim())
  })
})

describe('gateway login --browser', () => {
  /** Goes where the command says, as the browser of a person that decides so. */
  const through = async (page: string, decision: string, by = browser) => {
    mia()
    const {search} = new URL(page)
    const {location} = by.session ? await by.go(page) : (await house.signIn(by, search)).reply
    const request = new URL(location!, url).searchParams.get('request')
    const headers = {accept: 'application/json'}
    const asked = await by.go(`/v2/auth/cli/request?request=${request}`, {headers})
    expect(asked.body).toMatchObject({host: expect.any(String)})
    return (await by.go('/v2/auth/cli', {method: 'POST', body: {request, decision}, headers})).body.location as string
  }
  const pageIn = (outcome: string) => /http\S+cli_port\S+/.exec(outcome)![0]
  const browsing = (visit: (page: string) => Promise<void>) => ({
    onWait: (ms: number, outcome: string) => {
      expect(ms).toBe(300_000)
      return new Promise((_, fail) => void visit(pageIn(outcome)).catch(fail))
    },
  })

  test('signs in by the port of this machine; what is not its answer changes nothing', async () => {
    const at = home()
    const seen: (number | string)[] = []
    const outcome = await at.run(
      ['login', url, '--browser', '--name', 'prod'],
      browsing(async page => {
        const answer = await through(page, 'approve')
        const other = (change: (place: URL) => void) => {
          const place = new URL(answer)
          change(place)
          return place.href
        }
        for (const wrong of [
          other(place => place.searchParams.set('state', 'A'.repeat(32))),
          other(place => place.searchParams.delete('state')),
          other(place => place.searchParams.append('state', place.searchParams.get('state')!)),
          other(place => place.searchParams.append('error', 'access_denied')),
          answer.replace('/?', '/favicon.ico?'),
          answer.replace('127.0.0.1', 'localhost'),
        ])
          seen.push((await fetch(wrong)).status)
        seen.push((await fetch(answer, {method: 'POST'})).status)
        const page_of_answer = await fetch(answer)
        seen.push(page_of_answer.status, await page_of_answer.text())
      }),
    )
    expect(outcome).toMatchObject({code: 0, stdout: expect.stringContaining('as mia@example.test, organisation')})
    expect(seen.slice(0, 8)).toEqual([404, 404, 404, 404, 404, 404, 404, 200])
    expect(seen[8]).toContain('You may close this page')
    expect(at.text('keys', 'prod')).toMatch(/^gs-[\w-]{43}\n$/)
    expect(await at.run(['workspaces', 'list'])).toMatchObject({code: 0})
  })

  test('signs in a person too who signs in at the provider first', async () => {
    const at = home()
    const fresh = house.gateway.browser()
    const argv = ['login', url, '--browser']
    const outcome = await at.run(
      argv,
      browsing(async page => void (await fetch(await through(page, 'approve', fresh)))),
    )
    expect(outcome).toMatchObject({code: 0, stdout: expect.stringContaining('as mia@example.test')})
  })

  test('a person who says no is a refusal', async () => {
    const at = home()
    const outcome = await at.run(
      ['login', url, '--browser'],
      browsing(async page => void (await fetch(await through(page, 'deny')))),
    )
    expect(outcome).toMatchObject({code: 4, stderr: expect.stringContaining('was refused in the browser')})
    expect(at.files()).toEqual([])
  })

  test('it waits five minutes, and its port is closed after', async () => {
    const at = home()
    let page = ''
    const outcome = await at.run(['login', url, '--browser'], {
      onWait(ms, shown_text) {
        expect(ms).toBe(300_000)
        page = pageIn(shown_text)
      },
    })
    expect(outcome).toMatchObject({code: 1, stderr: expect.stringContaining('Nobody confirmed the sign-in in time')})
    const port = new URL(page).searchParams.get('cli_port')
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
  })

  test('the first answer counts: a second one changes nothing', async () => {
    const state = 's'.repeat(32)
    const port = await openAnswerPort(state)
    const bring = async (code: string) =>
      (await fetch(`http://127.0.0.1:${port.port}/?code=${code}&state=${state}`)).status
    const brought = [await bring('1'.repeat(43)), await bring('2'.repeat(43))]
    expect([brought, await port.answer]).toEqual([[200, 404], {code: '1'.repeat(43)}])
    await port.close()
  })

  test('the page is opened on a terminal alone, and has what the gateway asks for', async () => {
    const opened: string[] = []
    const over = {openPage: (page: string) => void opened.push(page)}
    await home().run(['login', url, '--browser'], {over})
    expect(opened).toEqual([])
    await home().run(['login', url, '--browser'], {over, is_terminal: true})
    const query = Object.fromEntries(new URL(opened[0]!).searchParams)
    expect(query).toEqual({
      cli_port: expect.stringMatching(/^\d+$/),
      cli_state: expect.stringMatching(/^[\w-]{32}$/),
      cli_challenge: expect.stringMatching(/^[\w-]{43}$/),
      cli_host: expect.any(String),
    })
  })
})

describe('gateway login --key-stdin', () => {
  test('A5: a wrong key writes no file', async () => {
    const at = home()
    const outcome = await at.run(['login', url, '--key-stdin'], {stdin: `gk-${'x'.repeat(43)}\n`})
    expect(outcome).toMatchObject({code: 4, stdout: ''})
    expect(outcome.stderr).not.toContain('gk-')
    expect(at.files()).toEqual([])
  })

  test('A7: a key is kept in its own file, which its owner alone reads, and is sent by commands', async () => {
    const at = home()
    const outcome = await at.run(['login', url, '--key-stdin', '--name', 'ci'], {stdin: `${WORKSPACE_KEY}\n`})
    expect(outcome).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Logged in to ci \(.*\) as .+, workspace .+\.\n/),
    })
    const holding = at.files().filter(path => at.text(path.slice(at.root.length + 1)).includes(WORKSPACE_KEY))
    expect(holding).toEqual([at.path('keys', 'ci')])
    expect(at.modes()).toEqual(['contexts.yaml 600', 'keys/ci 600'])
    expect(await at.run(['keys', 'self', '--json'])).toMatchObject({code: 0})
    const shown = await at.run(['contexts', 'show'])
    expect(shown.stdout).toContain(`…${WORKSPACE_KEY.slice(-4)}`)
    expect(shown.stdout).not.toContain(WORKSPACE_KEY)
  })

  test('a person types it unseen, and may think better of it', async () => {
    const at = home()
    const over = {askHidden: async () => ` ${ADMIN_KEY} `}
    expect(await at.run(['login', url, '--key-stdin'], {over})).toMatchObject({code: 0})
    const stopped = {askHidden: () => Promise.reject(new Error('stopped'))}
    const outcome = await home().run(['login', url, '--key-stdin'], {over: stopped})
    expect(outcome).toMatchObject({code: 1, stderr: expect.stringContaining('nothing was kept')})
    expect(await home().run(['login', url, '--key-stdin'])).toMatchObject({code: 2})
  })

  test.each([
    ['empty', ' \n'],
    ['two words', 'gk-one gk-two'],
    ['no header', 'gk-\u0000'],
  ])('stdin that is %s is no key', async (_, stdin) => {
    expect(await home().run(['login', url, '--key-stdin'], {stdin})).toMatchObject({code: 2})
  })

  test('a session that the operator made is one too', async () => {
    const at = home()
    const {token} = await house.gateway.admin<{token: string}>('POST', '/operator/sessions', {
      email: 'mia@example.test',
      ttl_s: 3600,
    })
    const outcome = await at.run(['login', url, '--key-stdin', '--json'], {stdin: token})
    expect(JSON.parse(outcome.stdout)).toMatchObject({kind: 'session', user: 'mia@example.test'})
  })
})

describe('gateway logout', () => {
  test('ends the session at the gateway, and a command of a session that is over says how to go on', async () => {
    const at = home()
    await at.run(['login', url, '--name', 'prod'], waits({1: 'approve'}))
    const token = at.text('keys', 'prod').trim()
    const self = () => fetch(`${url}/v1/auth/self`, {headers: {'x-gateway-api-key': token}})
    expect((await self()).status).toBe(200)
    const before = await sessionsOf()
    const outcome = await at.run(['logout'])
    expect(outcome).toEqual({code: 0, stdout: `Logged out of prod (${url}).\n`, stderr: ''})
    expect([(await self()).status, await sessionsOf(), at.modes()]).toEqual([401, before - 1, ['contexts.yaml 600']])
    expect(await at.run(['logout'])).toMatchObject({code: 3})
  })

  test('a command whose session has ended says how to go on', async () => {
    const at = home()
    await at.run(['login', url, '--name', 'prod'], waits({1: 'approve'}))
    const token = at.text('keys', 'prod').trim()
    await fetch(`${url}/v1/auth/logout`, {method: 'POST', headers: {authorization: `Bearer ${token}`}})
    const outcome = await at.run(['workspaces', 'list'])
    expect(outcome).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(`Sign in again: gateway login ${url} --name prod\n`),
    })
    expect(await at.run(['logout', '--json'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"revoked": true'),
    })
  })
})
