import {describe, expect, test} from 'vitest'
import {confirmPage, errorPage} from '../../src/identity/plain-page.ts'
import {RING} from '../support/ring.ts'
import {nameless, sideways, smallTargets, spoken} from './accessible.ts'
import {ADDRESSES, NO_BROWSER, useBrowser} from './browser.ts'
import {choose, press, write} from './keyboard.ts'

/** In every hostile text, so that it is found wherever it is shown. */
const MARK = 'Zq'
const HOSTILE: Readonly<Record<string, (words: string) => string>> = {
  'an element': words =>
    `${MARK}<img src=x onerror="document.title='run'"><script>document.title='run'</script>${words}`,
  'an address': words => `javascript:document.title='run'//${MARK}${words}`,
  'text turned around': words => `\u202e\u2067${MARK}${words}\u200f`,
  'a word of 1 MB': words => MARK + words + 'w'.repeat(1_000_000),
}
const LONG = 'w'.repeat(5000)
const VIEW = {title: '<b>No</b>', message: `<img src=x onerror=run()>${LONG}`, trace_id: '"><script>', next: null}

describe.skipIf(NO_BROWSER || RING === 'own')('all pages of sign-in in Chromium', {timeout: 90_000}, () => {
  const visit = useBrowser()
  /** Opens a page and, where it has one, the view behind its first form. */
  const visitAll = async (look: (address: string) => Promise<void>) => {
    for (const address of ADDRESSES) {
      await visit.open(address)
      await look(address)
      if (address !== '/v2/auth/device') continue
      await write(visit.page, 'Code', 'BCDF-GHJK')
      await press(visit.page, 'Enter')
      await visit.heading('Allow this command line?')
      await look(`${address}, then the code`)
    }
  }

  test.each(Object.entries(HOSTILE))('%s in a name is text', async (_, spell) => {
    visit.answerAll(spell)
    const shown: string[] = []
    await visitAll(async address => {
      const strange = `document.querySelectorAll('img, main script, iframe, [onerror], [href^="javascript:" i]').length`
      expect([address, await visit.page.read(strange)]).toEqual([address, 0])
      expect(await visit.page.read('document.title'), address).not.toBe('run')
      expect(await sideways(visit.page, 320), address).toBe(0)
      const words = await visit.page.read<string>(`document.querySelector('main').textContent`)
      expect(words.length, address).toBeLessThan(20_000)
      expect(words, address).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
      // a name has an element of its own, so that its direction does not reach the words around it
      const loose = `[...document.querySelectorAll('main :not(bdi)')]
        .filter(each => [...each.childNodes].some(node => node.nodeType === 3 && node.data.includes('${MARK}')))
        .map(each => each.outerHTML.slice(0, 80))`
      expect(await visit.page.read(loose), address).toEqual([])
      if (words.includes(MARK)) shown.push(address)
    })
    const nameless_pages = ['/v2/auth/ldap?connection=c-2', '/v2/auth/password']
    const named_pages = ADDRESSES.filter(each => !nameless_pages.includes(each))
    expect(shown).toEqual(expect.arrayContaining([...named_pages, '/v2/auth/device, then the code']))
  })

  test('a hostile message of a refusal is text within bounds', async () => {
    for (const spell of Object.values(HOSTILE)) {
      visit.gateway.refuse('GET /v2/auth/ways', 403, spell('No.'))
      await visit.open('/v2/auth/sign-in')
      expect((await visit.alerted()).length).toBeLessThan(1100)
      expect(await visit.page.read(`document.querySelectorAll('img, main script').length`)).toBe(0)
      expect(await sideways(visit.page, 320)).toBe(0)
    }
  })

  test('every page fits 320 and 360 px, has names for all it shows, and targets that can be hit', async () => {
    visit.answerAll()
    await visitAll(async address => {
      expect([address, await sideways(visit.page, 320), await sideways(visit.page, 360)]).toEqual([address, 0, 0])
      expect([address, ...(await nameless(visit.page))]).toEqual([address])
      expect([address, ...(await smallTargets(visit.page))]).toEqual([address])
      expect(
        (await spoken(visit.page)).filter(each => each === 'main: '),
        address,
      ).toHaveLength(1)
      expect(await visit.page.read(`document.querySelectorAll('h1').length`)).toBe(1)
      expect(
        await visit.page.read(`document.querySelectorAll('[tabindex]:not([tabindex="0"], [tabindex="-1"])').length`),
      ).toBe(0)
    })
  })

  test('tables scroll in their own regions on narrow screens', async () => {
    visit.answerAll()
    await visit.open('/v2/auth/account')
    await visit.page.send('Emulation.setDeviceMetricsOverride', {
      width: 360,
      height: 700,
      deviceScaleFactor: 1,
      mobile: false,
    })
    const scrolled = `[...document.querySelectorAll('.scroll')].filter(each => each.scrollWidth > each.clientWidth)
      .every(each => each.tabIndex === 0 && each.getAttribute('role') === 'region') &&
      document.querySelectorAll('.scroll')[3].scrollWidth > document.querySelectorAll('.scroll')[3].clientWidth`
    expect(await visit.page.read(scrolled)).toBe(true)
    await visit.page.send('Emulation.clearDeviceMetricsOverride')
  })

  test('the focus is seen on everything that Tab reaches', async () => {
    visit.answerAll()
    await visitAll(async address => {
      await visit.page.read('document.activeElement?.blur()')
      for (let step = 0; step < 20; step++) {
        await press(visit.page, 'Tab')
        const ring = `(style => [style.outlineStyle, style.outlineWidth])(getComputedStyle(document.activeElement))`
        if (await visit.page.read('document.activeElement === document.body')) break
        expect([address, ...(await visit.page.read<string[]>(ring))]).toEqual([address, 'solid', '3px'])
      }
    })
  })

  test('light or dark as the system is set; nothing moves for those who want no motion', async () => {
    visit.answerAll()
    await visit.open('/v2/auth/sign-in')
    const seen = async (name: string, value: string) => {
      await visit.page.send('Emulation.setEmulatedMedia', {features: [{name, value}]})
      const style = `getComputedStyle(document.querySelector('button'))`
      return visit.page.read<[string, string]>(`[${style}.color, ${style}.transitionDuration]`)
    }
    const light = await seen('prefers-color-scheme', 'light')
    expect((await seen('prefers-color-scheme', 'dark'))[0]).not.toBe(light[0])
    expect((await seen('prefers-reduced-motion', 'reduce'))[1]).toBe('0s')
    await visit.page.send('Emulation.setEmulatedMedia', {features: []})
  })

  test('without JavaScript a page says that it needs it', async () => {
    await visit.page.open('about:blank#')
    await visit.page.send('Emulation.setScriptExecutionDisabled', {value: true})
    try {
      for (const address of ADDRESSES) {
        await visit.page.send('Page.navigate', {url: visit.gateway.url + address})
        await expect
          .poll(() => spoken(visit.page))
          .toEqual(expect.arrayContaining([expect.stringMatching(/needs JavaScript/)]))
      }
      expect(visit.gateway.calls).toEqual([])
    } finally {
      await visit.page.send('Emulation.setScriptExecutionDisabled', {value: false})
      await visit.open('/v2/auth/sign-in')
    }
  })

  test('the error page and the page with one button keep to the policy, and their texts are texts', async () => {
    const next = {href: '/v2/auth/sign-in', text: 'Sign in <again>'}
    visit.gateway.serve('/error', errorPage({...VIEW, next}))
    await visit.page.open(`${visit.gateway.url}/error`)
    expect(await visit.text('h1')).toBe('<b>No</b>')
    expect(await visit.page.read(`document.querySelectorAll('img, script, b').length`)).toBe(0)
    expect(await visit.text('code')).toBe('"><script>')
    expect(await sideways(visit.page, 320)).toBe(0)
    expect(await smallTargets(visit.page)).toEqual([])
    visit.answerAll()
    await choose(visit.page, 'Sign in <again>')
    await visit.arrive('/v2/auth/sign-in')
    await visit.ready()

    visit.gateway.serve('/there', '<!doctype html><link rel="icon" href="data:,"><title>There</title>')
    const fields = {SAMLResponse: `"><script>${LONG}`, 'a"b': "'"}
    const view = {title: 'One step more', message: 'Continue.', action: '/v2/auth/finish', fields, button: 'Continue'}
    visit.gateway.serve('/confirm', confirmPage(view))
    await visit.page.open(`${visit.gateway.url}/confirm`)
    expect(await visit.page.read('Object.fromEntries(new FormData(document.querySelector("form")))')).toEqual(fields)
    expect(await nameless(visit.page)).toEqual([])
    await choose(visit.page, 'Continue')
    await visit.arrive('/v2/auth/finish')
    expect(visit.bodyOf('POST /v2/auth/finish')).toEqual(fields)
  })

  test('the watch of this file sees a breach of the policy', async () => {
    await visit.open('/v2/auth/sign-in')
    await visit.page.read(`document.body.setAttribute('style', 'color: red')`)
    await visit.until('window.violations.length > 0')
    expect(visit.page.complaints.some(each => /Content Security Policy/.test(each))).toBe(true)
    await visit.page.read('window.violations.length = 0')
    visit.page.complaints.length = 0
  })
})
