import {type NamePath, type Node, type PartialVersion, TemplateFault} from './parse.ts'

/** The data for templates, with no functions. */
export type Variables = Readonly<Record<string, unknown>>

/** A partial, read; undefined where there is none of that name and version. */
export type FindPartial = (name: string, version: PartialVersion) => readonly Node[] | undefined

/**
 * The format that a template writes, and thereby how values are escaped in it. Plain values (`{{{name}}}`) are not
 * escaped.
 */
export type TemplateFormat = 'text' | 'json' | 'html'

export const MAX_RENDERED_CHARS = 8_000_000
export const MAX_STEPS = 1_000_000
export const MAX_PARTIAL_DEPTH = 16

/** The bounds of one rendering, of however many texts. */
export class RenderBudget {
  #steps = 0
  #chars = 0

  step(): void {
    if (++this.#steps > MAX_STEPS) throw new TemplateFault(`rendering takes more than ${MAX_STEPS} steps`)
  }

  chars(text: string): string {
    this.#chars += text.length
    if (this.#chars > MAX_RENDERED_CHARS)
      throw new TemplateFault(`what is rendered is longer than ${MAX_RENDERED_CHARS} characters`)
    return text
  }
}

/**
 * The text that a template comes to. A variable that is not there is nothing; a section of it is left out, and its
 * inverse is not. Throws a `TemplateFault` for a partial that is not there, and beyond the budget.
 */
export function render(
  nodes: readonly Node[],
  variables: Variables,
  find: FindPartial,
  format: TemplateFormat,
  budget: RenderBudget,
): string {
  const parts: string[] = []
  new Rendering(find, format, budget, parts).write(nodes, {value: variables, outer: null}, 0)
  return parts.join('')
}

interface Scope {
  readonly value: unknown
  readonly outer: Scope | null
}

class Rendering {
  readonly #find: FindPartial
  readonly #format: TemplateFormat
  readonly #budget: RenderBudget
  readonly #parts: string[]

  constructor(find: FindPartial, format: TemplateFormat, budget: RenderBudget, parts: string[]) {
    this.#find = find
    this.#format = format
    this.#budget = budget
    this.#parts = parts
  }

  write(nodes: readonly Node[], scope: Scope, depth: number): void {
    for (const node of nodes) {
      this.#budget.step()
      if (node.kind === 'text') this.#write(node.text)
      else if (node.kind === 'value')
        this.#write(written(this.#look(node.path, scope), node.is_plain ? 'text' : this.#format))
      else if (node.kind === 'partial') this.#include(node.name, node.version, scope, depth)
      else this.#section(node, scope, depth)
    }
  }

  #section({path, is_inverted, nodes}: Extract<Node, {kind: 'section'}>, scope: Scope, depth: number) {
    const value = this.#look(path, scope)
    const is_there = Array.isArray(value) ? value.length > 0 : Boolean(value)
    if (is_inverted) {
      if (!is_there) this.write(nodes, scope, depth)
      return
    }
    if (!is_there) return
    if (!Array.isArray(value)) return this.write(nodes, value === true ? scope : {value, outer: scope}, depth)
    for (const each of value) {
      this.#budget.step()
      this.write(nodes, {value: each, outer: scope}, depth)
    }
  }

  #include(name: string, version: PartialVersion, scope: Scope, depth: number) {
    if (depth >= MAX_PARTIAL_DEPTH)
      throw new TemplateFault(`partials include each other more than ${MAX_PARTIAL_DEPTH} deep`)
    const nodes = this.#find(name, version)
    if (!nodes) throw new TemplateFault(`there is no partial ${name}${version === 'default' ? '' : `@${version}`}`)
    this.write(nodes, scope, depth + 1)
  }

  #write(text: string) {
    if (text) this.#parts.push(this.#budget.chars(text))
  }

  /** The first step is looked for from the inside out, the others below it. */
  #look(path: NamePath, scope: Scope): unknown {
    if (path.length === 0) return scope.value
    for (let at: Scope | null = scope; at; at = at.outer) {
      this.#budget.step()
      if (has(at.value, path[0]!))
        return path.reduce<unknown>((value, step) => (has(value, step) ? value[step] : undefined), at.value)
    }
    return undefined
  }
}

/** Own properties alone: data has no others. */
function has(value: unknown, key: string): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
}

function written(value: unknown, format: TemplateFormat): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  if (format === 'json') return JSON.stringify(text).slice(1, -1)
  return format === 'html' ? escapeHtml(text) : text
}

/** As text of HTML and as a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, character => `&#${character.charCodeAt(0)};`)
}
