import {createServer, request as send} from 'node:http'
import type {AddressInfo} from 'node:net'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {ingestPaths} from '../../src/admin/openapi/ingest.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {ASSETS, version} from '../../src/base/runtime.ts'
import {ENDPOINTS} from '../../src/schema/endpoints.ts'
import {CHROMIUM, openPage, type Page} from '../support/chromium.ts'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'

const CHAT = '#operations-Chat-chatComplete'
const PASSING = 5

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

test('the page and all it is made of are served without a key, and let nothing else in', async () => {
  for (const path of [
    '/docs',
    ...Object.entries(ASSETS).flatMap(([name, path]) =>
      name.endsWith('.html') || path.startsWith('src/sign-in/') ? [] : [`/docs/${name}`],
    ),
  ]) {
    const reply = await fetch(gateway.url + path)
    expect(reply.status, path).toBe(200)
    expect(reply.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
    expect((await reply.text()).length, path).toBeGreaterThan(40)
  }
  const page = await (await fetch(`${gateway.url}/docs`)).text()
  expect(page).not.toMatch(/https?:|\/\/|<script>|<style|style=|\son\w+=/)
})

test('a browser that has the files is told so, one that cannot unzip gets them as they are, and /docs/ leads to /docs', async () => {
  const ask = (headers: Record<string, string>, path = '/docs/swagger-ui.js') =>
    fetch(gateway.url + path, {headers, redirect: 'manual'})
  const whole = await ask({'accept-encoding': 'identity'})
  expect(whole.headers.get('content-encoding')).toBeNull()
  const zipped = await ask({'accept-encoding': 'gzip'})
  expect(zipped.headers.get('content-encoding')).toBe('gzip')
  expect(await zipped.text()).toBe(await whole.text())
  expect((await ask({'if-none-match': whole.headers.get('etag')!})).status).toBe(304)
  const slash = await ask({}, '/docs/')
  expect([slash.status, slash.headers.get('location')]).toEqual([308, '../docs'])
  expect((await ask({}, '/docs/../package.json')).status).toBe(404)
  expect((await ask({}, '/docs/%2e%2e%2fpackage.json')).status).toBe(404)
})

describe.skipIf(CHROMIUM === undefined && process.env.TEST_BROWSER !== 'required')(
  'in Chromium',
  {timeout: 90_000},
  () => {
    let page: Page
    beforeAll(async () => {
      if (!CHROMIUM) throw new Error('TEST_BROWSER=required, and no chromium is installed')
      page = await openPage(CHROMIUM)
      return () => page.close()
    })
    beforeEach(() => {
      page.asked.length = 0
      page.complaints.length = 0
    })

    test('it lists every operation, and a call tried with a key answers 200; nothing is asked of another host', async () => {
      await open(page, `${gateway.url}/docs`)
      const counts = await page.read<number[]>(
        `[...document.querySelectorAll('nav .count')].map(each => Number(each.textContent))`,
      )
      const calls = ENDPOINTS.filter(({later}) => !later).length + PASSING
      const ingesting = Object.keys(ingestPaths()).length
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(OPERATIONS.length + calls + ingesting)

      await page.type('#key', WORKSPACE_KEY)
      expect(await tried(page)).toEqual(['200', expect.stringContaining('You said: Say hello in one word.')])
      expect(await page.read(`document.querySelector('.curl').textContent`)).toContain('x-gateway-api-key: YOUR_KEY')

      const kept = `JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href, document.documentElement.outerHTML])`
      expect(await page.read(kept)).not.toContain(WORKSPACE_KEY)
      const hosts = new Set(page.asked.filter(url => !url.startsWith('data:')).map(url => new URL(url).origin))
      expect([...hosts]).toEqual([gateway.url])
      expect(page.asked).toContain(`${gateway.url}/v1/chat/completions`)
      expect(page.asked.join('\n')).not.toContain(WORKSPACE_KEY)
      expect(page.complaints).toEqual([])
    })

    test('a call without a key, and with one that is not known, shows the refusal', async () => {
      await open(page, `${gateway.url}/docs`)
      expect(await tried(page)).toEqual(['401', expect.stringContaining('No API key was sent')])
      await page.type('#key', 'gk-nobody-knows')
      await page.click(`${CHAT} .btn-clear`)
      expect(await tried(page)).toEqual(['401', expect.stringContaining('not known to this gateway')])
    })

    test('the search finds operations by any of their words; light and dark differ', async () => {
      await open(page, `${gateway.url}/docs`)
      expect((await found(page, 'rotate key'))[0]).toMatch(/^\/api-keys\/.*rotate$/)
      expect(await page.read(`document.querySelector('.opblock-tag').dataset.tag`)).toBe('Api-Keys')
      const ground = `getComputedStyle(document.body).backgroundColor`
      const before = await page.read(ground)
      await page.click('#theme')
      expect(await page.read(ground)).not.toBe(before)
      expect(page.complaints).toEqual([])
    })

    test('the search finds operations by their descriptions and fields, and shows them', async () => {
      await open(page, `${gateway.url}/docs`)
      const opened = `document.querySelectorAll('.opblock-tag[data-is-open=true]').length`
      const before = await page.read(`[${opened}, history.length, location.href]`)
      expect(await found(page, 'stream')).toEqual(
        expect.arrayContaining(['/chat/completions', '/messages', '/responses', '/completions']),
      )
      const budget = await found(page, 'budget')
      expect(budget).toEqual(expect.arrayContaining(['/policies/usage-limits', '/api-keys/{type}/{subtype}']))
      expect((await found(page, 'spend'))[0]).toBe('/analytics/graphs/cost')
      // a word of the title comes before one of a field, and a field that all calls have is found by its whole name
      expect((await found(page, 'cache'))[0]).toContain('cache')
      expect(await found(page, 'cache')).not.toContain('/files')
      expect(await found(page, 'x-gateway-cache-namespace')).toContain('/files')
      expect(await found(page, '')).toContain('/chat/completions')
      expect(await page.read(`[${opened}, history.length, location.href]`)).toEqual(before)
    })

    test('words that no operation has are named', async () => {
      await open(page, `${gateway.url}/docs`)
      expect(await found(page, 'zebra <b>')).toEqual([])
      const shown = `document.body.innerText`
      expect(await page.read(shown)).toContain('No operation has these words: zebra <b>')
      expect(await page.read(shown)).not.toContain('No operations defined')
      expect((await found(page, 'rerank'))[0]).toBe('/rerank')
      expect(await page.read(shown)).not.toContain('No operation has')
    })

    test('the version beside its name is that of the gateway', async () => {
      await open(page, `${gateway.url}/docs`)
      expect(await page.read(`document.querySelector('.info .version').innerText.trim()`)).toBe(version)
    })

    test('below a path of a proxy it calls that path', async () => {
      const proxy = createServer((request, reply) => {
        const {method, url = '', headers} = request
        if (!url.startsWith('/ai/')) return void reply.writeHead(404).end()
        const onward = send(gateway.url + url.slice(3), {method, headers}, answer => {
          answer.pipe(reply.writeHead(answer.statusCode!, answer.headers))
        })
        request.pipe(onward)
      })
      await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
      const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/ai/docs`
      await open(page, `${url}/`)
      expect(await page.read('location.origin + location.pathname')).toBe(url)
      await page.type('#key', WORKSPACE_KEY)
      expect(await tried(page)).toEqual(['200', expect.stringContaining('You said')])
      expect(page.complaints).toEqual([])
      proxy.closeAllConnections()
      proxy.close()
    })
  },
)

async function open(page: Page, url: string) {
  await page.open(url)
  await page.until(`document.querySelectorAll('.opblock-tag').length > 10`)
}

/** The paths of the operations that are to be seen when this is searched for. */
async function found(page: Page, phrase: string): Promise<string[]> {
  await page.read(`document.querySelector('#search').value = ''`)
  if (phrase) await page.type('#search', phrase)
  else await page.read(`document.querySelector('#search').dispatchEvent(new Event('input'))`)
  // two frames: it is drawn by then
  await page.read(`new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))`)
  const paths = `[...document.querySelectorAll('.opblock-summary-path')]`
  return page.read(`${paths}.filter(each => each.checkVisibility()).map(each => each.dataset.path)`)
}

/** Status and body of a chat that is tried as the page proposes it. */
async function tried(page: Page): Promise<[string, string]> {
  if (!(await page.read(`document.querySelector('${CHAT} .btn.execute') !== null`)))
    await page.click(`${CHAT} .opblock-summary-control`)
  await page.until(`document.querySelector('${CHAT} textarea')?.value.includes('messages')`)
  await page.click(`${CHAT} .btn.execute`)
  const row = `document.querySelector('${CHAT} .live-responses-table tbody tr')`
  await page.until(`${row}?.querySelector('.microlight') != null`)
  return page.read(
    `[${row}.querySelector('.response-col_status').innerText.split('\\n')[0], ${row}.querySelector('.microlight').innerText]`,
  )
}
