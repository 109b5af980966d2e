import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {expect, test} from 'vitest'
import {ASSETS} from '../../src/base/runtime.ts'
import {confirmPage, errorPage} from '../../src/identity/plain-page.ts'
import {contrastOf, themesOf} from './contrast.ts'
import {PAGES} from './fake-gateway.ts'

const MAX_BYTES = 40 * 1024
const FILES = readdirSync(PAGES).filter(name => !name.endsWith('.ts'))
const TEXTS = Object.fromEntries(FILES.map(name => [name, readFileSync(join(PAGES, name), 'utf8')]))
const CSS = TEXTS['sign-in.css']!

const TEXT_RATIO = 4.5
/** Of edges of fields and of the ring around the focus. */
const SHAPE_RATIO = 3
const PAIRS: readonly (readonly [front: string, back: string, ratio: number])[] = [
  ...['text', 'faint', 'accent', 'alert', 'note', 'warning'].flatMap(front => [
    [front, 'ground', TEXT_RATIO] as const,
    [front, 'raised', TEXT_RATIO] as const,
  ]),
  ['on-accent', 'accent', TEXT_RATIO],
  ...['alert', 'note', 'warning'].map(front => [front, `${front}-ground`, TEXT_RATIO] as const),
  ...['ground', 'raised'].map(back => ['edge', back, SHAPE_RATIO] as const),
  ...['ground', 'raised', 'alert-ground'].map(back => ['accent', back, SHAPE_RATIO] as const),
]

test('texts, edges and the focus have contrast enough, in light and dark', () => {
  const {light, dark} = themesOf(CSS)
  expect(Object.keys(light).length).toBeGreaterThan(10)
  expect(dark.ground).not.toBe(light.ground)
  const low = Object.entries({light, dark}).flatMap(([theme, palette]) =>
    PAIRS.map(([front, back, ratio]) => ({
      theme,
      front,
      back,
      ratio,
      has: contrastOf(palette[front]!, palette[back]!),
    })),
  )
  expect(low.filter(({has, ratio}) => !(has >= ratio))).toEqual([])
  expect(contrastOf('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  // a colour outside of the palette would not be measured
  expect(CSS.replace(/--[\w-]+: #[0-9a-f]{6};/g, '')).not.toMatch(/#[0-9a-f]{3,8}\b|rgb|hsl|opacity/)
})

test('the files are small, and hold nothing that the policy forbids', () => {
  const bytes = Object.values(TEXTS).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
  for (const [name, text] of Object.entries(TEXTS)) {
    if (name.endsWith('.html'))
      expect(text, name).not.toMatch(/<style|style=|\son\w+=|<script(?! type="module" src="\/)|https?:/)
    if (name.endsWith('.js'))
      expect(text, name).not.toMatch(
        /(?:inner|outer|Adjacent)HTML|document\.write|\beval\(|new Function|srcdoc|\.style\b|Storage\b|\.cookie/,
      )
    if (name.endsWith('.css')) expect(text, name).not.toMatch(/url\(|@import/)
    expect(text.split('\n').length, name).toBeLessThanOrEqual(400)
  }
})

test('every file is served, also by the executable, and every file that a page names is there', () => {
  const served = new Map<string, string>(Object.entries(ASSETS).map(([name, path]) => [path, name]))
  for (const [name, text] of Object.entries(TEXTS)) {
    expect(served.get(`src/sign-in/pages/${name}`)).toBe(name)
    const named = [...text.matchAll(/(?:\/v2\/auth\/assets|from '\.)\/([\w.-]+\.\w+)/g)].map(([, file]) => file!)
    expect(
      named.filter(file => !FILES.includes(file)),
      name,
    ).toEqual([])
    if (!name.endsWith('.css') && name !== 'common.js') expect(named.length, name).toBeGreaterThan(0)
  }
})

const VIEW = {title: 'No', message: 'It did not work.', trace_id: 'trace-1'}

test.each([
  ...['javascript:run()', ' javascript:run()', 'data:text/html,x', 'http://foreign.example/', '//foreign.example/'],
  ...['/\\foreign.example/', '/\t/foreign.example/', 'foreign', '', 'http://127.0.0.1.foreign.example/'],
  ...['http://127.0.0.1@foreign.example/', `/${'x'.repeat(3000)}`],
])('an error page does not link to %j', href => {
  expect(errorPage({...VIEW, next: {href, text: 'Next'}})).not.toContain('<a ')
})

test.each([
  '/v2/auth/sign-in?a=b',
  'https://gateway.example/x',
  'http://127.0.0.1:9/x',
  'http://localhost/',
  'http://[::1]:9/',
])('an error page links to %s', href => {
  expect(errorPage({...VIEW, next: {href, text: 'Next'}})).toContain(`<a class="button" href="${href}">Next</a>`)
})

test('texts of an error page are escaped and cut', () => {
  const html = errorPage({...VIEW, message: `"'<b>&${'x'.repeat(5000)}`, next: {href: '/?a="&b', text: '<i>'}})
  expect(html).toContain('&#34;&#39;&#60;b&#62;&#38;xxx')
  expect(html).toContain('href="/?a=&#34;&#38;b">&#60;i&#62;</a>')
  expect(html.length).toBeLessThan(4000)
  expect(html).not.toMatch(/<script|<style|style=/)
})

test.each([
  'https://foreign.example/',
  '//foreign.example/',
  '/\\foreign.example',
  '/\n/foreign.example',
  'javascript:run()',
  '',
])('a form is not sent to %j', action => {
  expect(() => confirmPage({...VIEW, action, fields: {}, button: 'Continue'})).toThrow(/path of this gateway/)
})

test('fields of a form are escaped and whole', () => {
  const value = `"><script>${'x'.repeat(5000)}`
  const html = confirmPage({...VIEW, action: '/v2/auth/x?a=b&c=d', fields: {'a"': value}, button: '<Go>'})
  expect(html).toContain('action="/v2/auth/x?a=b&#38;c=d"')
  expect(html).toContain(`name="a&#34;" value="&#34;&#62;&#60;script&#62;${'x'.repeat(5000)}"`)
  expect(html).toContain('<button type="submit">&#60;Go&#62;</button>')
})

test('every file that the executable carries is there', () => {
  const missing = Object.values(ASSETS).filter(path => !existsSync(new URL(`../../${path}`, import.meta.url)))
  expect(missing).toEqual([])
})
