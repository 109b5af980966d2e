import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {type Node, parseTemplate, TemplateFault} from '../../base/mustache/parse.ts'
import {RenderBudget, render, type TemplateFormat} from '../../base/mustache/render.ts'
import {BUNDLED, LETTERS, type LetterName, VALUES} from './bundled.ts'
import type {Letter} from './index.ts'

export type {LetterName} from './bundled.ts'

/** The facts that a mail may contain: names, and their texts. An absent or empty one counts as missing. */
export type LetterFacts = Readonly<Record<string, string | undefined>>

type Template = (facts: LetterFacts, format: TemplateFormat) => string

/** Writes a letter of a kind. */
export type WriteLetter = (name: LetterName, facts: LetterFacts) => Pick<Letter, 'subject' | 'plain' | 'html'>

const MAX_BYTES = 256 * 1024

/**
 * Reads all letters: `NAME.txt` (whose first line is `Subject: ...`) and `NAME.html` of `folder`, else the bundled
 * ones. `shared` holds what all letters may say. Throws TemplateFault with a sentence that names the file.
 */
export function readLetters(folder: string | undefined, shared: LetterFacts): WriteLetter {
  const known = new Map<LetterName, {subject: Template; plain: Template; html: Template}>()
  for (const name of LETTERS) {
    const text = own(folder, `${name}.txt`)
    const html = own(folder, `${name}.html`)
    const bundled = BUNDLED[name]
    const {subject, body} =
      text === undefined ? {subject: bundled.subject, body: bundled.plain} : parted(text, `${name}.txt`)
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
      subject: subject(all, 'text').replace(/\s+/g, ' ').trim().slice(0, MAX_SUBJECT),
      plain: plain(all, 'text'),
      html: html(all, 'html'),
    }
  }
}

const MAX_SUBJECT = 200

function read(text: string, file: string): Template {
  try {
    const nodes = parseTemplate(text)
    checkNodes(nodes)
    return (facts, format) => render(nodes, facts, () => undefined, format, new RenderBudget())
  } catch (fault) {
    throw fault instanceof TemplateFault
      ? new TemplateFault(`The template ${file} cannot be used: ${fault.message}.`)
      : fault
  }
}

/** A letter has the values of `VALUES` alone, always escaped: a key's name must not become HTML. */
function checkNodes(nodes: readonly Node[]) {
  for (const node of nodes) {
    if (node.kind === 'text') {
      if (node.text.includes('}}')) throw new TemplateFault('a }} is without its {{')
    } else if (node.kind === 'partial') throw new TemplateFault('{{>...}} is not available: there are no partials')
    else {
      const name = node.path.join('.')
      if (!VALUES.some(value => value === name))
        throw new TemplateFault(`there is no value {{${name}}}; there are ${VALUES.join(', ')}`)
      if (node.kind === 'section') checkNodes(node.nodes)
      else if (node.is_plain)
        throw new TemplateFault('{{{...}}} and {{&...}} are not available: values are always escaped')
    }
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
    if (bytes.length > MAX_BYTES) throw new TemplateFault(`The template ${file} is larger than ${MAX_BYTES} bytes.`)
    return bytes.toString('utf8')
  } catch (fault) {
    const {code} = fault as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw code === undefined
      ? fault
      : new TemplateFault(`The template ${file} of EMAIL_TEMPLATES_PATH cannot be read: ${code}.`)
  }
}
