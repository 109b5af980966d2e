/** What a template may say: names, and their texts. What is absent or empty counts as not there. */
export type Facts = Readonly<Record<string, string | undefined>>

/** A template that cannot be read; its sentence says why. */
export class TemplateFault extends Error {}

type Part = string | {readonly name: string} | {readonly name: string; readonly when: boolean; readonly parts: readonly Part[]}

/** Renders a template, every value put through `made_safe`. */
export type Template = (facts: Facts, made_safe: (text: string) => string) => string

/**
 * Reads a template of Mustache's words (mustache(5)) as far as letters need them: `{{name}}`, `{{#name}}...{{/name}}` where there is such a
 * value, `{{^name}}...{{/name}}` where there is none, `{{! a remark }}`. Unescaped values, partials and names beyond `names` are
 * refused with TemplateFault: a letter must not say what a key is called in the words of HTML.
 */
export function readTemplate(text: string, names: readonly string[]): Template {
  if (text.includes('{{{')) throw new TemplateFault('{{{...}}} is not available: values are always escaped.')
  const parts: Part[] = []
  const open: {readonly name: string; readonly when: boolean; readonly parts: Part[]}[] = []
  const here = () => open.at(-1)?.parts ?? parts
  let end = 0
  for (const found of text.matchAll(/\{\{([^{}]*)\}\}/g)) {
    plain(text.slice(end, found.index), here())
    end = found.index + found[0].length
    const [, sign = '', name = ''] = /^\s*([#^/!&>]?)\s*([\s\S]*?)\s*$/.exec(found[1]!) ?? []
    if (sign === '!') continue
    if (sign === '&' || sign === '>')
      throw new TemplateFault(`{{${sign}...}} is not available: values are always escaped, and there are no partials.`)
    if (!names.includes(name)) throw new TemplateFault(`there is no value {{${name}}}; there are ${names.join(', ')}.`)
    if (sign === '') here().push({name})
    else if (sign !== '/') open.push({name, when: sign === '#', parts: []})
    else {
      const section = open.pop()
      if (section?.name !== name) throw new TemplateFault(`{{/${name}}} ends nothing that is open there.`)
      here().push(section)
    }
  }
  plain(text.slice(end), here())
  const left = open.pop()
  if (left) throw new TemplateFault(`{{${left.when ? '#' : '^'}${left.name}}} has no end.`)
  return (facts, made_safe) => said(parts, facts, made_safe)
}

function plain(text: string, into: Part[]) {
  if (/\{\{|\}\}/.test(text)) throw new TemplateFault('a {{ or }} is without its other half.')
  if (text !== '') into.push(text)
}

function said(parts: readonly Part[], facts: Facts, made_safe: (text: string) => string): string {
  return parts
    .map(part => {
      if (typeof part === 'string') return part
      const value = facts[part.name] ?? ''
      if (!('parts' in part)) return made_safe(value)
      return (value !== '') === part.when ? said(part.parts, facts, made_safe) : ''
    })
    .join('')
}

/** As text of HTML and as a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, character => `&#${character.charCodeAt(0)};`)
}
