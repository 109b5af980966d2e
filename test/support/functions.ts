import {parseAst} from 'vitest/node'

const FUNCTIONS: ReadonlySet<unknown> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
])

export interface FunctionLength {
  readonly name: string
  /** From its first line to its last, without those of the operations in an object that it returns. */
  readonly lines: number
}

interface Node {
  readonly type: unknown
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

interface Open {
  name: string
  lines: number
}

/**
 * All functions of a file. An object of operations that a function returns is read operation by operation, as the
 * members of a class are: each is measured by itself, and not as a part of the function around it. A function without
 * a name has that of its owner, or none.
 */
export function functionsIn(text: string): readonly FunctionLength[] {
  const found: FunctionLength[] = []
  visit(parseAst(text, {lang: 'ts'}), null, null, null)
  return found

  function visit(node: unknown, parent: Node | null, around: Open | null, returned: Open | null) {
    if (Array.isArray(node)) for (const each of node) visit(each, parent, around, returned)
    if (!isNode(node)) return
    const lines = text.slice(node.start, node.end).split('\n').length
    const is_operation = returned !== null && node.type === 'Property'
    if (is_operation && isNode(node.value) && FUNCTIONS.has(node.value.type)) returned.lines -= lines
    const one = FUNCTIONS.has(node.type) ? {name: nameOf(node) ?? nameOf(parent) ?? '', lines} : null
    if (one) found.push(one)
    for (const member of Object.values(node))
      visit(member, node, one ?? around, operationsOf(node, parent, member, around, returned))
  }
}

/** The function whose operations the members of an object are: the one that returns it. */
function operationsOf(node: Node, parent: Node | null, member: unknown, around: Open | null, returned: Open | null) {
  if (node.type === 'ReturnStatement') return isNode(member) && member.type === 'ObjectExpression' ? around : null
  return node.type === 'ObjectExpression' && parent?.type === 'ReturnStatement' ? returned : null
}

/** The name of a declaration (`id`) or of a member (`key`). */
function nameOf(node: Node | null): string | undefined {
  const id = node?.id ?? node?.key
  return isNode(id) && typeof id.name === 'string' ? id.name : undefined
}

function isNode(node: unknown): node is Node {
  return typeof node === 'object' && node !== null && 'type' in node && 'start' in node && 'end' in node
}
