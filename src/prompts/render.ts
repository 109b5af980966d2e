import {type Node, type PartialVersion, type Path, TemplateFault} from './parse.ts'

/** What templates are rendered with: data alone. */
export type Variables = Readonly<Record<string, unknown>>

/** A partial, read; undefined where there is none of that name and version. */
export type FindPartial = (name: string, version: PartialVersion) => readonly Node[] | undefined

/** How a value is said where it stands: as it is, or as a part of a text in JSON. */
export type TemplateFormat = 'text' | 'json'

export const MOST_RENDERED_CHARS = 8_000_000
export const MOST_STEPS = 1_000_000
export const MOST_PARTIAL_DEPTH = 16

/** What one rendering, of however many texts, may come to. */
export class Budget {
  #steps = 0
  #chars = 0

  step(): void {
    if (++this.#steps > MOST_STEPS) throw new TemplateFault(`rendering takes more than ${MOST_STEPS} steps`)
  }

  chars(text: string): string {
    this.#chars += text.length
    if (this.#chars > MOST_RENDERED_CHARS) throw new TemplateFault(`what is rendered is longer than ${MOST_RENDERED_CHARS} characters`)
    return text
  }
}

/**
 * The text that a template comes to. A variable that is not there is nothing; a section of it is left out, and its inverse is not. Throws a
 * `TemplateFault` for a partial that is not there, and beyond the budget.
 */
export function render(nodes: readonly Node[], variables: Variables, find: FindPartial, words: TemplateFormat, budget: Budget): string {
  const said: string[] = []
  new Rendering(find, words, budget, said).write(nodes, {value: variables, outer: null}, 0)
  return said.join('')
}

interface Scope {
  readonly value: unknown
  readonly outer: Scope | null
}

class Rendering {
  readonly #find: FindPartial
  readonly #words: TemplateFormat
  readonly #budget: Budget
  readonly #said: string[]

  constructor(find: FindPartial, words: TemplateFormat, budget: Budget, said: string[]) {
    this.#find = find
    this.#words = words
    this.#budget = budget
    this.#said = said
  }

  write(nodes: readonly Node[], scope: Scope, depth: number): void {
    for (const node of nodes) {
      this.#budget.step()
      if (node.kind === 'text') this.#say(node.text)
      else if (node.kind === 'value') this.#say(spoken(this.#look(node.path, scope), node.is_plain, this.#words))
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
    if (depth >= MOST_PARTIAL_DEPTH) throw new TemplateFault(`partials include each other more than ${MOST_PARTIAL_DEPTH} deep`)
    const nodes = this.#find(name, version)
    if (!nodes) throw new TemplateFault(`there is no partial ${name}${version === 'default' ? '' : `@${version}`}`)
    this.write(nodes, scope, depth + 1)
  }

  #say(text: string) {
    if (text) this.#said.push(this.#budget.chars(text))
  }

  /** The first step is looked for from the inside out, the others below it. */
  #look(path: Path, scope: Scope): unknown {
    if (path.length === 0) return scope.value
    for (let at: Scope | null = scope; at; at = at.outer) {
      this.#budget.step()
      if (has(at.value, path[0]!)) return path.reduce<unknown>((value, step) => (has(value, step) ? value[step] : undefined), at.value)
    }
    return undefined
  }
}

/** Own properties alone: data has no others. */
function has(value: unknown, key: string): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
}

function spoken(value: unknown, is_plain: boolean, words: TemplateFormat): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return words === 'json' && !is_plain ? JSON.stringify(text).slice(1, -1) : text
}
