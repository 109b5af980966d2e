import {execFileSync} from 'node:child_process'
import {createHash, X509Certificate} from 'node:crypto'
import {chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {delimiter, join} from 'node:path'
import {setTimeout} from 'node:timers/promises'
import {expect} from 'vitest'
import {CHROMIUM, openPage, type Page} from '../support/chromium.ts'
import type {SignInGateway} from '../support/sign-in.ts'

const WITHIN_MS = 10_000
const SEEN = `location.origin + location.pathname + ': ' + document.body.innerText`
/** Of a database of trusted authorities, such as Chrome has on Linux; without it Chromium takes the key alone. */
const CERTUTIL = (process.env.PATH ?? '')
  .split(delimiter)
  .map(folder => join(folder, 'certutil'))
  .find(existsSync)

/** A page at real pages: of the gateway, and of identity providers that lead back to it. */
export interface RealBrowser {
  readonly page: Page
  /** Goes to an address, also to one whose page leads on at once. */
  open(url: string): Promise<void>
  /** Waits until an expression is true, also in a page that is yet to come. */
  until(expression: string): Promise<void>
  /** Waits until the browser is at this path of the gateway, and its page has shown what it has. */
  arrive(url: string): Promise<void>
  /** Presses the button that begins with these words, once it is there. */
  press(words: string): Promise<void>
  /** What the person sees. */
  text(): Promise<string>
  /** The message that has the focus. */
  alerted(): Promise<string>
  /** A call that the page makes with what the browser holds. */
  call(method: string, path: string, ask?: PageAction): Promise<PageAnswer>
  forget(): Promise<void>
  close(): Promise<void>
}

export interface PageAction {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface PageAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly body: any
}

/** Names that are this machine, and authorities that the browser trusts. */
export interface Surroundings {
  readonly names?: readonly string[]
  readonly trusted?: {readonly ca_file: string; readonly server_file: string}
}

export async function openRealBrowser({names = [], trusted}: Surroundings = {}): Promise<RealBrowser> {
  if (!CHROMIUM) throw new Error('TEST_BROWSER=required, and no chromium is installed')
  const folder = mkdtempSync(join(tmpdir(), 'gateway-real-browser-'))
  const flags = [
    ...(names.length > 0 ? [`--host-resolver-rules=${names.map(name => `MAP ${name} 127.0.0.1`).join(',')}`] : []),
    ...(trusted ? trusting(folder, trusted) : []),
  ]
  const page = await openPage(started(folder, flags))
  const until = async (expression: string) => {
    // over navigations: in a page that is just left the condition does not hold
    const holds = () => page.read<boolean>(`Boolean(${expression})`).catch(() => false)
    const end_ms = performance.now() + WITHIN_MS
    while (!(await holds())) {
      if (performance.now() > end_ms) throw new Error(`never true: ${expression}, at ${await page.read(SEEN)}`)
      await setTimeout(20)
    }
  }
  const press = async (words: string) => {
    const found = `[...document.querySelectorAll('button')]
      .find(each => each.innerText.trim().startsWith(${JSON.stringify(words)}))`
    await until(`${IS_READY} && ${found}`)
    // a click may lead elsewhere before its answer is there
    await page.read(`setTimeout(() => ${found}.click())`)
  }
  const open = async (url: string) => {
    await page.send('Page.navigate', {url})
    await until(`document.readyState === 'complete'`)
  }
  return {
    page,
    open,
    until,
    press,
    arrive: url => until(`location.href === ${JSON.stringify(url)} && ${IS_READY}`),
    text: () => page.read<string>('document.body.innerText'),
    async alerted() {
      await until(`document.querySelector('#alert')?.textContent`)
      expect(await page.read('document.activeElement.id')).toBe('alert')
      return page.read<string>(`document.querySelector('#alert').innerText`)
    },
    call: (method, path, {body, headers = {}} = {}) => page.read<PageAnswer>(callOf({method, path, body, headers})),
    async forget() {
      await page.send('Network.clearBrowserCookies')
      await open('about:blank')
    },
    async close() {
      await page.close()
      rmSync(folder, {recursive: true, force: true})
    },
  }
}

/** A page of the gateway has shown its content or its message. */
const IS_READY = `(document.readyState === 'complete' && !document.body.classList.contains('busy') &&
  [...document.querySelectorAll('#content, #alert')].map(each => each.textContent).join('') !== '')`

function callOf({method, path, body, headers}: PageAction & {readonly method: string; readonly path: string}): string {
  const init = {
    method,
    headers: {accept: 'application/json', ...(body !== undefined && {'content-type': 'application/json'}), ...headers},
    ...(body !== undefined && {body: JSON.stringify(body)}),
  }
  return `fetch(${JSON.stringify(path)}, ${JSON.stringify(init)}).then(async reply => {
    const text = await reply.text()
    return {status: reply.status, body: text === '' ? null : JSON.parse(text)}
  })`
}

/** Chromium with flags of its own, and with a home in which its database of authorities is. */
function started(folder: string, flags: readonly string[]): string {
  const script = join(folder, 'chromium')
  const words = flags.map(flag => `'${flag}'`).join(' ')
  writeFileSync(script, `#!/bin/sh\nHOME='${folder}' exec '${CHROMIUM}' ${words} "$@"\n`)
  chmodSync(script, 0o755)
  return script
}

/** The authority as docs/certificates.md has it for Chrome on Linux; the flags that take its place without certutil. */
function trusting(folder: string, {ca_file, server_file}: NonNullable<Surroundings['trusted']>): readonly string[] {
  if (CERTUTIL) {
    const database = join(folder, '.pki/nssdb')
    mkdirSync(database, {recursive: true})
    const run = (...words: string[]) => execFileSync(CERTUTIL, ['-d', `sql:${database}`, ...words], {stdio: 'pipe'})
    run('-N', '--empty-password')
    run('-A', '-t', 'C,,', '-n', 'gateway-ca', '-i', ca_file)
    return []
  }
  const {publicKey} = new X509Certificate(readFileSync(server_file))
  const key = createHash('sha256')
    .update(publicKey.export({type: 'spki', format: 'der'}))
    .digest('base64')
  return [`--ignore-certificate-errors-spki-list=${key}`]
}

/** The steps of a person at a gateway, in a browser. */
export function stepsAt(browser: RealBrowser, gateway: SignInGateway) {
  const base = gateway.shared.CONTROL_PLANE_URL!
  const account = `${base}/v2/auth/account`
  return {
    base,
    account,
    /** From the sign-in page to where its button leads. */
    async begin(connection: string) {
      await browser.open(`${base}/v2/auth/sign-in`)
      await browser.press(`Sign in with ${connection}`)
    },
    arriveHome: () => browser.arrive(account),
    async expectAccount(email: string, ...shown: readonly string[]) {
      await browser.arrive(account)
      await browser.until(`document.querySelector('#content').innerText.includes(${JSON.stringify(email)})`)
      const text = await browser.text()
      for (const words of shown) expect(text).toContain(words)
    },
    /** A user key that the person makes in the page, by the session that its cookie is. */
    async makeKey(workspace_id: string): Promise<string> {
      const body = {name: 'my first', workspace_id, scopes: ['completions.write']}
      const made = await browser.call('POST', '/v1/api-keys/workspace/user', {body})
      expect(made).toMatchObject({status: 200, body: {key: expect.any(String)}})
      return made.body.key
    },
    /** The status of a chat with the demo provider, called from the page with a key. */
    async chat(key: string): Promise<number> {
      const body = {model: '@demo/echo', messages: [{role: 'user', content: 'Hello from a person'}]}
      const reply = await browser.call('POST', '/v1/chat/completions', {body, headers: {'x-gateway-api-key': key}})
      if (reply.status === 200) expect(JSON.stringify(reply.body)).toContain('Hello from a person')
      return reply.status
    },
    /** The operator removes the person, whose page is open: its next click leads away, and his key opens nothing. */
    async expectRemoved(email: string, key: string) {
      await browser.open(account)
      await browser.arrive(account)
      await gateway.admin('DELETE', `/admin/users/${(await userOf(gateway, email))!.id}`)
      await browser.press('Sign out')
      await browser.until(`location.pathname === '/v2/auth/sign-in' && ${IS_READY}`)
      // not the way out, but the way of a stranger, who comes back to the page that he wanted
      expect(await browser.page.read('location.search')).toBe(
        `?${new URLSearchParams({return_to: '/v2/auth/account'})}`,
      )
      const self = await browser.call('GET', '/v1/auth/self')
      const calls = await browser.call('POST', '/v1/chat/completions', {
        body: {model: '@demo/echo', messages: [{role: 'user', content: 'Hello'}]},
        headers: {'x-gateway-api-key': key},
      })
      expect([self.status, calls.status]).toEqual([401, 401])
    },
  }
}

export type Steps = ReturnType<typeof stepsAt>

export async function userOf(gateway: SignInGateway, email: string) {
  const {data} = await gateway.admin<{data: {id: string; email: string; role: string}[]}>('GET', '/admin/users')
  return data.find(user => user.email === email)
}

/** A workspace in which members of a group are managers. */
export async function mapGroup(gateway: SignInGateway, name: string, group: string): Promise<string> {
  const {id} = await gateway.admin<{id: string}>('POST', '/admin/workspaces', {name})
  const mapping = {workspace_id: id, role: 'manager', scim_group_name: group}
  await gateway.admin('POST', '/scim/workspaces', mapping)
  return id
}
