import {afterAll, afterEach, beforeAll, beforeEach, expect} from 'vitest'
import {CHROMIUM, openPage, type Page} from '../support/chromium.ts'
import {answerAccount} from './account-answers.ts'
import {type FakeGateway, startFakeGateway} from './fake-gateway.ts'

export const OIDC = {id: 'c-1', name: 'Acme Entra', type: 'oidc'}
export const LDAP = {id: 'c-2', name: 'Acme directory', type: 'ldap'}
export const WAYS = {
  organisation: {id: 'org-1', name: 'Acme'},
  connections: [OIDC, LDAP],
  asks_email: false,
  password: true,
}
/** The command line that asks, as a lookup of its code answers. */
export const ASKER = {
  client: 'gateway-cli',
  host: 'ada-laptop',
  client_ip: '192.0.2.7',
  created_at: '2026-11-01T08:00:00.000Z',
  expires_at: '2026-11-01T08:10:00.000Z',
}
export const REFUSED = 'The gateway named an address that this page does not open.'
/** Addresses that the gateway could name by a fault; no page may open one. */
export const FOREIGN = [
  'javascript:document.title="run"',
  ' javascript:document.title="run"',
  'JaVaScRiPt:document.title="run"',
  'java\nscript:document.title="run"',
  'data:text/html,run',
  'blob:http://127.0.0.1/run',
  'http://foreign.example/',
  'http://127.0.0.1.foreign.example/',
  'http://localhost@foreign.example/',
  'https://user:word@foreign.example/',
  '//foreign.example/',
  '/\\foreign.example/',
  '/\t/foreign.example/',
  'https:foreign.example',
  'ftp://127.0.0.1/',
  'sign-in',
  7,
  {href: 'https://foreign.example'},
] as const
/** Every page, as a person comes to it. */
export const ADDRESSES = [
  ...['/v2/auth/sign-in', '/v2/auth/ldap?connection=c-2', '/v2/auth/password', '/v2/auth/device'],
  ...['/v2/auth/cli?request=r-1', '/v2/auth/account', '/v2/auth/invite#token=gi-SECRET'],
] as const

export const NO_BROWSER = CHROMIUM === undefined && process.env.TEST_BROWSER !== 'required'
/** A page has shown its content, or why there is none. */
const READY = `document.readyState === 'complete' && !document.body.classList.contains('busy') &&
  document.querySelector('#content, #alert')?.textContent !== undefined &&
  document.querySelector('#content').textContent + document.querySelector('#alert').textContent !== ''`

/** A browser and a gateway for the tests of one file; after each test nothing foreign was loaded and nothing broke. */
export interface PageVisit {
  page: Page
  gateway: FakeGateway
  open(path: string): Promise<void>
  ready(): Promise<void>
  text(selector: string): Promise<string>
  /** Waits until an expression is true, also in a page that is yet to come. */
  until(expression: string): Promise<void>
  /** Waits for the message that has the focus. */
  alerted(): Promise<string>
  /** Waits until the browser is at this path. */
  arrive(path: string): Promise<void>
  heading(words: string): Promise<void>
  /** Does what makes the page call the route, and waits for the message that follows. */
  alertedAfter(route: string, act: () => Promise<unknown>): Promise<string>
  /** Of the last call of the route. */
  bodyOf(route: string): unknown
  /** Answers with which every page shows all that it has; each name is what `spell` makes of it. */
  answerAll(spell?: (words: string) => string): void
}

export function useBrowser(): PageVisit {
  const visit = {} as PageVisit
  beforeAll(async () => {
    if (!CHROMIUM) throw new Error('TEST_BROWSER=required, and no chromium is installed')
    const gateway = await startFakeGateway()
    const page = await openPage(CHROMIUM)
    await page.send('Page.addScriptToEvaluateOnNewDocument', {
      source: `window.violations = []
        document.addEventListener('securitypolicyviolation', event => violations.push(event.violatedDirective))`,
    })
    Object.assign(visit, {page, gateway, ...actionsOf(page, gateway)})
  })
  afterAll(async () => {
    await visit.page?.close()
    visit.gateway?.close()
  })
  beforeEach(() => {
    visit.gateway.reset()
    visit.gateway.serve('/there', '<!doctype html><link rel="icon" href="data:,"><title>There</title>')
    visit.page.asked.length = 0
    visit.page.complaints.length = 0
  })
  afterEach(() => expectQuiet(visit))
  return visit
}

function actionsOf(page: Page, gateway: FakeGateway): Omit<PageVisit, 'page' | 'gateway'> {
  const text = (selector: string) => page.read<string>(`document.querySelector(${JSON.stringify(selector)}).innerText`)
  /** Over navigations: where a page is just left or not there yet, the condition does not hold. */
  const until = (expression: string) =>
    expect.poll(() => page.read<boolean>(`Boolean(${expression})`).catch(() => false)).toBe(true)
  const alerted = async () => {
    await until(`document.querySelector('#alert').textContent !== ''`)
    expect(await page.read('document.activeElement.id')).toBe('alert')
    return text('#alert')
  }
  return {
    text,
    until,
    ready: () => until(READY),
    async open(path) {
      // from elsewhere, as the same address with another fragment is not loaded again
      await page.open('about:blank#')
      await page.open(gateway.url + path)
      await until(READY)
    },
    alerted,
    async alertedAfter(route, act) {
      const count = () => gateway.calls.filter(each => each.route === route).length
      const before = count()
      await act()
      // a page takes an older message down before it calls
      await expect.poll(count).toBeGreaterThan(before)
      return alerted()
    },
    arrive: path => until(`location.pathname === '${path}' && document.readyState === 'complete'`),
    heading: words => until(`document.querySelector('h1').textContent === ${JSON.stringify(words)}`),
    bodyOf: route => gateway.calls.findLast(each => each.route === route)?.body,
    answerAll(spell = words => words) {
      const connections = WAYS.connections.map(each => ({...each, name: spell(each.name)}))
      gateway.answer('GET /v2/auth/ways', {...WAYS, organisation: {id: 'org-1', name: spell('Acme')}, connections})
      const asker = {client: spell('cli'), host: spell('ada-laptop'), client_ip: spell('192.0.2.7')}
      gateway.answer('POST /v2/auth/device/lookup', {...ASKER, ...asker})
      gateway.answer('GET /v2/auth/cli/request', {host: spell('ada-laptop'), expires_at: ASKER.expires_at})
      answerAccount(gateway, spell)
    },
  }
}

async function expectQuiet({page, gateway}: PageVisit) {
  expect(await page.read('window.violations')).toEqual([])
  // Chromium notes each answer of 400 and above as an error; all else is of the pages
  expect(page.complaints.filter(each => !each.startsWith('Failed to load resource'))).toEqual([])
  const foreign = page.asked.filter(url => {
    const {origin, pathname} = new URL(url)
    return origin !== gateway.url && !/^(?:data|about):/.test(url) && origin + pathname !== `${gateway.elsewhere}/there`
  })
  expect(foreign).toEqual([])
}
