import {parseJson} from '../base/json-object.ts'
import {type Node, type PartialVersion, parseTemplate, TemplateFault} from '../base/mustache/parse.ts'
import {type FindPartial, RenderBudget, render, type TemplateFormat, type Variables} from '../base/mustache/render.ts'
import type {PromptTemplate} from '../schema/prompts.ts'

/** A prompt, read: messages with templates for texts, messages written as one template of JSON, or one text. */
export type Prompt =
  | {readonly kind: 'messages'; readonly tree: Tree}
  | {readonly kind: 'json'; readonly nodes: readonly Node[]}
  | {readonly kind: 'text'; readonly nodes: readonly Node[]}

/** JSON with templates in place of its texts. */
type Tree = Leaf | readonly Tree[] | {readonly [key: string]: Tree} | number | boolean | null

class Leaf {
  readonly nodes: readonly Node[]
  constructor(nodes: readonly Node[]) {
    this.nodes = nodes
  }
}

const MAX_DEPTH = 32

/**
 * Reads the `string` of a prompt: a JSON array of messages, whose texts are templates; a template that comes to such an
 * array (`is_raw`, or what begins like one and is none yet); else the text of a completion. Throws a `TemplateFault`.
 */
export function readPrompt({string, is_raw_template}: Pick<PromptTemplate, 'string' | 'is_raw_template'>): Prompt {
  const messages = is_raw_template ? undefined : messagesIn(string)
  if (messages) return {kind: 'messages', tree: treeOf(messages, 0)}
  return {kind: /^\s*\[\s*[{[]/.test(string) ? 'json' : 'text', nodes: parseTemplate(string)}
}

function messagesIn(string: string): readonly unknown[] | undefined {
  if (!/^\s*\[/.test(string)) return undefined
  try {
    const parsed: unknown = parseJson(string)
    return areMessages(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

function areMessages(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(each => typeof each === 'object' && each !== null && 'role' in each)
  )
}

function treeOf(source: unknown, depth: number): Tree {
  if (depth > MAX_DEPTH) throw new TemplateFault(`the messages are more than ${MAX_DEPTH} deep`)
  if (typeof source === 'string') return new Leaf(parseTemplate(source))
  if (Array.isArray(source)) return source.map(each => treeOf(each, depth + 1))
  if (typeof source !== 'object' || source === null) return source as Tree
  return Object.fromEntries(Object.entries(source).map(([key, value]) => [key, treeOf(value, depth + 1)]))
}

/** The partials that templates include themselves, each once. */
export function partialsOf(prompt: Prompt): PartialRef[] {
  const found = new Map<string, PartialRef>()
  const walk = (tree: Tree): void => {
    if (tree instanceof Leaf) for (const ref of partialsIn(tree.nodes)) found.set(refKey(ref), ref)
    else if (tree && typeof tree === 'object') for (const each of Object.values(tree)) walk(each as Tree)
  }
  if (prompt.kind === 'messages') walk(prompt.tree)
  else for (const ref of partialsIn(prompt.nodes)) found.set(refKey(ref), ref)
  return [...found.values()]
}

export interface PartialRef {
  readonly name: string
  readonly version: PartialVersion
}

export function refKey({name, version}: PartialRef): string {
  return `${name}@${version}`
}

export function partialsIn(nodes: readonly Node[]): PartialRef[] {
  return nodes.flatMap(node =>
    node.kind === 'partial' ? [node] : node.kind === 'section' ? partialsIn(node.nodes) : [],
  )
}

/** Renders a prompt as the members of a call's body. */
export function renderPrompt(
  prompt: Prompt,
  variables: Variables,
  find: FindPartial,
): {readonly messages: readonly unknown[]} | {readonly prompt: string} {
  const budget = new RenderBudget()
  const renderNodes = (nodes: readonly Node[], words: TemplateFormat) => render(nodes, variables, find, words, budget)
  if (prompt.kind === 'text') return {prompt: renderNodes(prompt.nodes, 'text')}
  if (prompt.kind === 'messages')
    return {messages: filled(prompt.tree, nodes => renderNodes(nodes, 'text')) as readonly unknown[]}
  const text = renderNodes(prompt.nodes, 'json')
  try {
    const messages: unknown = parseJson(text)
    if (areMessages(messages)) return {messages}
  } catch {
    // The sentence follows below: the parser's own would quote the variables.
  }
  throw new TemplateFault('with these variables the template is no JSON array of messages')
}

function filled(tree: Tree, renderNodes: (nodes: readonly Node[]) => string): unknown {
  if (tree instanceof Leaf) return renderNodes(tree.nodes)
  if (Array.isArray(tree)) return tree.map(each => filled(each as Tree, renderNodes))
  if (typeof tree !== 'object' || tree === null) return tree
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, filled(value as Tree, renderNodes)]))
}
