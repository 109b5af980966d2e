import {parseAst} from 'vitest/node'

/** A function that calls itself, or others of its file that come back to it. */
export interface Recursion {
  readonly name: string
  /** Its parameters as they are written. */
  readonly parameters: string
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

interface Known {
  parameters: string
  readonly names: Set<string>
}

/**
 * The functions of a file that come back to themselves, by name: what a function mentions (not only what it calls, for
 * it may be handed to `map`) is taken for a call. Functions of one name in a file are taken for one. Methods are
 * mentioned by `this.name` alone.
 */
export function recursionsIn(text: string): readonly Recursion[] {
  const known = new Map<string, Known>()
  const open: Known[] = []
  visit(parseAst(text, {lang: 'ts'}) as unknown as Node, null, '')
  return [...known].filter(([name]) => comesBack(name)).map(([name, {parameters}]) => ({name, parameters}))

  function visit(node: Node, parent: Node | null, member: string) {
    const name = nameOf(node, parent)
    if (name !== null) {
      const params = node.params as readonly Node[]
      const parameters = params.map(({start, end}) => text.slice(start, end).replace(/\s+/g, ' ')).join(', ')
      const one = known.get(name) ?? {parameters, names: new Set<string>()}
      known.set(name, one)
      open.push(one)
    }
    if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') {
      const mentioned = mentionOf(node, parent, member)
      if (mentioned !== null) for (const each of open) each.names.add(mentioned)
    }
    for (const [member, all] of Object.entries(node)) {
      for (const below of Array.isArray(all) ? all : [all]) if (isNode(below)) visit(below, node, member)
    }
    if (name !== null) open.pop()
  }

  function comesBack(name: string): boolean {
    const seen = new Set<string>()
    const next = [...known.get(name)!.names]
    for (let each = next.pop(); each !== undefined; each = next.pop()) {
      if (each === name) return true
      if (seen.has(each) || !known.has(each)) continue
      seen.add(each)
      next.push(...known.get(each)!.names)
    }
    return false
  }
}

const FUNCTIONS: ReadonlySet<string> = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])
const NAMED: Readonly<Record<string, string>> = {
  VariableDeclarator: 'id',
  Property: 'key',
  PropertyDefinition: 'key',
  MethodDefinition: 'key',
}

/** What a function is called: a method `this.name`. */
function nameOf(node: Node, parent: Node | null): string | null {
  if (!FUNCTIONS.has(node.type)) return null
  if (node.type === 'FunctionDeclaration') return (node.id as Node | null)?.name as string | null
  const member = parent && NAMED[parent.type]
  const id = member ? (parent[member] as Node) : null
  if (typeof id?.name !== 'string' || parent!.computed === true) return null
  return parent!.type === 'VariableDeclarator' ? id.name : `this.${id.name}`
}

function mentionOf({name}: Node, parent: Node | null, member: string): string | null {
  // what a function or a member is called mentions nothing
  if (member === 'id' || (member === 'key' && parent!.computed !== true && parent!.shorthand !== true)) return null
  if (parent?.type !== 'MemberExpression' || (parent.property as Node).name !== name || parent.computed === true)
    return name as string
  return (parent.object as Node).type === 'ThisExpression' ? `this.${name as string}` : null
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as {type?: unknown}).type === 'string'
}
