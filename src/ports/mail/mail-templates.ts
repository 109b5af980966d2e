import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {BUNDLED, LETTERS, type LetterName, VALUES} from './bundled.ts'
import type {Letter} from './index.ts'
import {escapeHtml, type Facts, readTemplate, type Template, TemplateFault} from './mustache.ts'

export type {LetterName} from './bundled.ts'

/** Writes a letter of a kind. */
export type WriteLetter = (name: LetterName, facts: Facts) => Pick<Letter, 'subject' | 'plain' | 'html'>

const MOST_BYTES = 256 * 1024

/**
 * Reads all letters: `NAME.txt` (whose first line is `Subject: ...`) and `NAME.html` of `folder`, else the bundled ones. `shared` holds
 * what all letters may say. Throws TemplateFault with a sentence that names the file.
 */
export function readLetters(folder: string | undefined, shared: Facts): WriteLetter {
  const known = new Map<LetterName, {subject: Template; plain: Template; html: Template}>()
  for (const name of LETTERS) {
    const text = own(folder, `${name}.txt`)
    const html = own(folder, `${name}.html`)
    const bundled = BUNDLED[name]
    const {subject, body} = text === undefined ? {subject: bundled.subject, body: bundled.plain} : parted(text, `${name}.txt`)
    known.set(name, {
      subject: read(subject, `${name}.txt`),
      plain: read(body, `${name}.txt`),
      html: read(html ?? bundled.html, `${name}.html`),
    })
  }
  return (name, facts) => {
    const {subject, plain, html} = known.get(name)!
    const all = {...shared, ...facts}
    return {
      subject: subject(all, text => text)
        .replace(/\s+/g, ' ')
        .trim()
        .slice(0, MOST_SUBJECT),
      plain: plain(all, text => text),
      html: html(all, escapeHtml),
    }
  }
}

const MOST_SUBJECT = 200

function read(text: string, file: string): Template {
  try {
    return readTemplate(text, VALUES)
  } catch (fault) {
    throw fault instanceof TemplateFault ? new TemplateFault(`The template ${file} cannot be used: ${fault.message}`) : fault
  }
}

function parted(text: string, file: string): {subject: string; body: string} {
  const [, subject, body] = /^Subject:[ \t]*(\S.*?)[ \t]*\r?\n(?:\r?\n)?([\s\S]*)$/.exec(text) ?? []
  if (subject === undefined || body === undefined)
    throw new TemplateFault(`The template ${file} cannot be used: its first line must be "Subject: ...".`)
  return {subject, body}
}

function own(folder: string | undefined, file: string): string | undefined {
  if (folder === undefined) return undefined
  try {
    const bytes = readFileSync(join(folder, file))
    if (bytes.length > MOST_BYTES) throw new TemplateFault(`The template ${file} is larger than ${MOST_BYTES} bytes.`)
    return bytes.toString('utf8')
  } catch (fault) {
    const {code} = fault as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw code === undefined ? fault : new TemplateFault(`The template ${file} of EMAIL_TEMPLATES_PATH cannot be read: ${code}.`)
  }
}
