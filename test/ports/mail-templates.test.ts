import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import fc from 'fast-check'
import {describe, expect, onTestFinished, test} from 'vitest'
import {parseTemplate} from '../../src/base/mustache/parse.ts'
import {escapeHtml, RenderBudget, render} from '../../src/base/mustache/render.ts'
import {LETTERS} from '../../src/ports/mail/bundled.ts'
import {readLetters} from '../../src/ports/mail/mail-templates.ts'

const FACTS = {
  kind: 'API key',
  name: 'blue',
  used: '20.50 US dollars',
  limit: '25.00 US dollars',
  threshold: '20.00 US dollars',
}
const SHARED = {company_name: 'Example & Sons'}

function folder(files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-letters-'))
  onTestFinished(() => rmSync(path, {recursive: true, force: true}))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  return path
}

describe('letters', () => {
  test('say what happened, in text and in HTML', () => {
    const letter = readLetters(undefined, SHARED)('apikey-usage-threshold-alert', {
      ...FACTS,
      resets_at: '2026-04-01T00:00:00.000Z',
    })
    expect(letter).toEqual({
      subject: 'The API key blue has used 20.50 US dollars of 25.00 US dollars',
      plain:
        'The API key blue has passed the threshold of 20.00 US dollars that was set for alerts: 20.50 US dollars of 25.00 US dollars are used.\n\n' +
        'The budget starts again at 2026-04-01T00:00:00.000Z.\n\nExample & Sons\n\n',
      html: expect.stringContaining(
        '<p>The budget starts again at 2026-04-01T00:00:00.000Z.</p>\n<p>Example &#38; Sons</p>\n</body></html>\n',
      ),
    })
  })

  test('are ten, each without a trace of its template', () => {
    const write = readLetters(undefined, {
      ...SHARED,
      logo_url: 'https://example.com/"x.png',
      support_email: 'a@example.com',
    })
    expect(LETTERS).toHaveLength(12)
    for (const name of LETTERS) {
      const {subject, plain, html} = write(name, {...FACTS, expires_at: '2026-04-01T00:00:00.000Z'})
      expect(subject + plain + html).not.toMatch(/[{}]|undefined/)
      expect(html).toContain('<img src="https://example.com/&#34;x.png"')
      expect(plain).toContain('Questions: a@example.com')
      expect(plain).not.toContain('More about it')
    }
  })

  test('are those of the folder where it has them', () => {
    const path = folder({
      'apikey-expired-alert.txt': 'Subject: Gone: {{name}}\r\n\r\nIt is gone.\n',
      'apikey-usage-exhausted-alert.html': '<b>{{name}}</b>',
      'something-else.txt': '{{nothing}}',
    })
    const write = readLetters(path, SHARED)
    expect(write('apikey-expired-alert', {name: '<b>blue'})).toMatchObject({
      subject: 'Gone: <b>blue',
      plain: 'It is gone.\n',
    })
    expect(write('apikey-expired-alert', {name: '<b>blue'}).html).toContain('&#60;b&#62;blue')
    expect(write('apikey-usage-exhausted-alert', FACTS)).toMatchObject({
      html: '<b>blue</b>',
      plain: expect.stringContaining('used up'),
    })
    expect(write('virtualkey-expired-alert', FACTS).subject).toBe('The API key blue has expired')
  })

  test.each([
    ['no subject', 'The template entity-expired-alert.txt cannot be used: its first line must be "Subject: ...".'],
    ['Subject: x\n{{nmae}}', /there is no value \{\{nmae\}\}; there are kind, name, /],
    ['Subject: x\n{{{name}}}', /values are always escaped/],
    ['Subject: x\n{{& name}}', /values are always escaped/],
    ['Subject: x\n{{> part}}', /no partials/],
    ['Subject: x\n{{#name}}', /\{\{#name\}\} is not closed/],
    ['Subject: x\nname}}', /a \}\} is without its \{\{/],
    ['Subject: x\n{{/name}}', /closes nothing/],
    ['Subject: x\n{{#name}}{{/kind}}', /closes nothing/],
  ])('%j is refused when it is read', (text, sentence) => {
    expect(() => readLetters(folder({'entity-expired-alert.txt': text}), SHARED)).toThrow(sentence)
  })

  test('a subject is one line', () => {
    expect(
      readLetters(undefined, SHARED)('apikey-expired-alert', {kind: 'API key', name: 'a\r\nBcc: x@example.com'})
        .subject,
    ).toBe('The API key a Bcc: x@example.com has expired')
  })
})

test('a template gives back what it is, but for its values, and lets none of them be HTML', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (before, value, after) => {
      fc.pre(!/[{}]/.test(before + after))
      const nodes = parseTemplate(`${before}{{name}}${after}`)
      expect(render(nodes, {name: value}, () => undefined, 'text', new RenderBudget())).toBe(before + value + after)
      expect(render(nodes, {name: value}, () => undefined, 'html', new RenderBudget())).toBe(
        before + escapeHtml(value) + after,
      )
      expect(escapeHtml(value)).not.toMatch(/[<>"'`]|&(?!#\d+;)/)
    }),
  )
})
